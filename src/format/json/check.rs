//! Whether a text is JSON: every value is read in full, strings included, because serde_json is lax in values it is told
//! to skip. Must not know what the values are for.

use serde_core::Deserialize;
use serde_core::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Checks that the whole of a text is one JSON value.
pub(in crate::format) fn value(text: &str) -> serde_json::Result<()> {
    let mut json = serde_json::Deserializer::from_str(text);
    Checked::deserialize(&mut json).and_then(|_| json.end())
}

/// Any JSON value, read in full and forgotten: unlike `IgnoredAny` it has every string's escapes checked.
struct Checked;

impl<'de> Deserialize<'de> for Checked {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_any(Checked)
    }
}

impl<'de> Visitor<'de> for Checked {
    type Value = Checked;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self, A::Error> {
        while seq.next_element::<Checked>()?.is_some() {}
        Ok(self)
    }

    /// With arbitrary precision a number, too, comes as a map: one member, whose value is its text.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        while map.next_key::<AnyKey>()?.is_some() {
            map.next_value::<Checked>()?;
        }
        Ok(self)
    }
}

/// Any key, read in full and forgotten.
struct AnyKey;

impl<'de> Deserialize<'de> for AnyKey {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_str(AnyKey)
    }
}

impl Visitor<'_> for AnyKey {
    type Value = AnyKey;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }
}
