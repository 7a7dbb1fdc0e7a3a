//! Zones: wall-clock times to instants and back.

/// A time zone from the compiled-in database; UTC takes a short cut.
#[derive(Clone, Debug, PartialEq)]
pub struct Zone(jiff::tz::TimeZone);

impl Zone {
    /// Coordinated universal time.
    pub const UTC: Zone = Zone(jiff::tz::TimeZone::UTC);

    /// The zone's name.
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }
}
