//! Zones: wall-clock times to instants and back.

/// A time zone from the compiled-in database; UTC takes a short cut.
#[derive(Clone, Debug, PartialEq)]
pub struct Zone(jiff::tz::TimeZone);

impl Zone {
    /// Coordinated universal time.
    pub const UTC: Zone = Zone(jiff::tz::TimeZone::UTC);
}
