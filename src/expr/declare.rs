//! `amount double, id bigint, price decimal(18,2)`: the types a user declares.
//!
//! Must not know what fields are used for. Type names are SQL's, as DuckDB spells them and their usual variants.

use super::sql::{Sql, nearest};
use crate::error::{Error, Result};
use crate::schema::{FieldPath, FieldType};
use sqlparser::tokenizer::{Location, Token, TokenWithSpan};

/// What `decimal` alone means, as in DuckDB.
const DECIMAL: FieldType = FieldType::Decimal { precision: 18, scale: 3 };

/// What a time is cast to so that it is cut to the start of its day; no type of a field.
const DATE: &str = "date";

/// The type names there are.
static TYPES: &[(&str, FieldType)] = &[
    ("bigint", FieldType::Int),
    ("int", FieldType::Int),
    ("integer", FieldType::Int),
    ("smallint", FieldType::Int),
    ("tinyint", FieldType::Int),
    ("long", FieldType::Int),
    ("int2", FieldType::Int),
    ("int4", FieldType::Int),
    ("int8", FieldType::Int),
    ("int64", FieldType::Int),
    ("double", FieldType::Double),
    ("double precision", FieldType::Double),
    ("float", FieldType::Double),
    ("real", FieldType::Double),
    ("float4", FieldType::Double),
    ("float8", FieldType::Double),
    ("float64", FieldType::Double),
    ("boolean", FieldType::Bool),
    ("bool", FieldType::Bool),
    ("text", FieldType::Text),
    ("varchar", FieldType::Text),
    ("string", FieldType::Text),
    ("char", FieldType::Text),
    ("character varying", FieldType::Text),
    ("decimal", DECIMAL),
    ("numeric", DECIMAL),
    ("timestamp", FieldType::Time),
    ("timestamptz", FieldType::Time),
    ("timestamp with time zone", FieldType::Time),
    ("timestamp without time zone", FieldType::Time),
    ("datetime", FieldType::Time),
    (DATE, FieldType::Time),
    ("json", FieldType::Json),
];

/// Reads a list of fields with their types. The error shows the place; the flag's name is the caller's to add.
pub fn parse_schema(text: &str) -> Result<Vec<(FieldPath, FieldType)>> {
    let sql = Sql { text, takes: "a field and its type" };
    let tokens = sql.tokens()?;
    let mut cursor = Cursor { sql, tokens: &tokens };
    let mut fields: Vec<(FieldPath, FieldType)> = Vec::new();
    loop {
        let start = cursor.place();
        let path = cursor.path()?;
        let place = cursor.place();
        let (ty, day) = cursor.ty()?;
        if day {
            return Err(no_date(sql, place, &path));
        }
        if fields.iter().any(|(other, _)| *other == path) {
            return Err(sql.error(start, format!("\"{path}\" is declared twice")));
        }
        fields.push((path, ty));
        match cursor.next() {
            None => return Ok(fields),
            Some(Token::Comma) => {}
            Some(_) => return Err(cursor.back_at(&tokens).expected("a comma or the end")),
        }
    }
}

/// Fields are read as they are; cutting is an expression's work.
fn no_date(sql: Sql<'_>, at: Location, path: &FieldPath) -> Error {
    let field = super::tree::path_text(path);
    sql.error(at, "a field is declared a timestamp; a date alone is the start of its day")
        .hint(format!("'{field} timestamp' declares it, and {field}::date in an expression cuts it to days"))
}

/// The type of this name, as a cast names it, and whether it is a date. `at`: where an error points.
pub(super) fn type_of(sql: Sql<'_>, name: &str, at: Location) -> Result<(FieldType, bool)> {
    let named = Sql { text: name, takes: "a type" };
    let tokens = named.tokens()?;
    let mut cursor = Cursor { sql: named, tokens: &tokens };
    match cursor.ty() {
        Ok((ty, day)) if cursor.peek().is_none() && ty != FieldType::Json => Ok((ty, day)),
        _ => {
            let error = sql.error(at, format!("there is no type \"{}\"", name.to_lowercase()));
            Err(error.hint("types are bigint, double, decimal(p,s), boolean, text, timestamp and date"))
        }
    }
}

/// The tokens still to be read.
struct Cursor<'a> {
    sql: Sql<'a>,
    tokens: &'a [TokenWithSpan],
}

impl<'a> Cursor<'a> {
    fn peek(&self) -> Option<&'a Token> {
        self.tokens.first().map(|token| &token.token)
    }

    fn next(&mut self) -> Option<&'a Token> {
        let token = self.peek()?;
        self.tokens = &self.tokens[1..];
        Some(token)
    }

    /// One token back.
    fn back_at(&self, all: &'a [TokenWithSpan]) -> Self {
        Cursor { sql: self.sql, tokens: &all[all.len() - self.tokens.len() - 1..] }
    }

    fn place(&self) -> Location {
        self.tokens.first().map_or_else(Location::empty, |token| token.span.start)
    }

    fn skip(&mut self, token: &Token) -> bool {
        let there = self.peek() == Some(token);
        if there {
            self.next();
        }
        there
    }

    fn expected(&self, what: &str) -> Error {
        let found = self.peek().map_or_else(|| "the end".to_owned(), Token::to_string);
        self.sql.error(self.place(), format!("expected {what}, found {found}"))
    }

    fn path(&mut self) -> Result<FieldPath> {
        let mut parts = Vec::new();
        loop {
            match self.peek() {
                Some(Token::Word(word)) if !word.value.is_empty() => parts.push(word.value.clone()),
                _ => return Err(self.expected("a field")),
            }
            self.next();
            if !self.skip(&Token::Period) {
                return Ok(FieldPath::new(parts));
            }
        }
    }

    /// A type, and whether it is a date.
    fn ty(&mut self) -> Result<(FieldType, bool)> {
        let start = self.place();
        let mut words = Vec::new();
        while let Some(Token::Word(word)) = self.peek() {
            words.push(word.value.to_lowercase());
            self.next();
        }
        if words.is_empty() {
            return Err(self.expected("a type").hint("a field with an odd name goes in double quotes"));
        }
        let name = words.join(" ");
        let Some(&(_, ty)) = TYPES.iter().find(|(known, _)| *known == name) else {
            return Err(unknown(self.sql, start, &name));
        };
        let day = name == DATE;
        match (self.skip(&Token::LParen), ty) {
            (false, ty) => Ok((ty, day)),
            (true, FieldType::Decimal { .. }) => Ok((self.decimal()?, day)),
            (true, FieldType::Text | FieldType::Time) if !day => Ok((self.ignored_size(ty)?, day)),
            (true, _) => Err(self.sql.error(start, format!("{name} takes no size"))),
        }
    }

    /// `18,2)` or `18)`.
    fn decimal(&mut self) -> Result<FieldType> {
        let start = self.place();
        let precision = self.number()?;
        let scale = if self.skip(&Token::Comma) { self.number()? } else { 0 };
        if !self.skip(&Token::RParen) {
            return Err(self.expected(")"));
        }
        match (u8::try_from(precision), i8::try_from(scale)) {
            (Ok(precision @ 1..=38), Ok(scale)) if scale.unsigned_abs() <= precision => {
                Ok(FieldType::Decimal { precision, scale })
            }
            _ => Err(self
                .sql
                .error(start, format!("decimal({precision},{scale}) cannot be"))
                .hint("decimal(p,s) has p digits, 1 to 38, and s of them behind the point")),
        }
    }

    /// The length of `varchar(20)` and the digits of `timestamp(6)`: nothing is cut here.
    fn ignored_size(&mut self, ty: FieldType) -> Result<FieldType> {
        self.number()?;
        if self.skip(&Token::RParen) { Ok(ty) } else { Err(self.expected(")")) }
    }

    fn number(&mut self) -> Result<u32> {
        let Some(Token::Number(digits, _)) = self.peek() else {
            return Err(self.expected("a number"));
        };
        let number = digits.parse().map_err(|_| self.expected("a whole number"))?;
        self.next();
        Ok(number)
    }
}

fn unknown(sql: Sql<'_>, at: Location, name: &str) -> Error {
    let guess = nearest(name, TYPES.iter().map(|(name, _)| *name));
    let guess = guess.map_or_else(String::new, |near| format!("did you mean {near}? "));
    sql.error(at, format!("there is no type \"{name}\""))
        .hint(format!("{guess}types are bigint, double, boolean, text, decimal(p,s), timestamp"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types(text: &str) -> Vec<(String, FieldType)> {
        let fields = parse_schema(text).unwrap_or_else(|error| panic!("{error}"));
        fields.into_iter().map(|(path, ty)| (path.parts().join("|"), ty)).collect()
    }

    fn error(text: &str) -> String {
        parse_schema(text).unwrap_err().to_string()
    }

    #[test]
    fn fields_have_types() {
        let expected = [
            ("amount", FieldType::Double),
            ("id", FieldType::Int),
            ("price", FieldType::Decimal { precision: 18, scale: 2 }),
            ("actor|Login", FieldType::Text),
            ("Flight Date", FieldType::Time),
        ];
        let found =
            types("amount double, id BIGINT,price decimal(18, 2), actor.Login varchar(20), \"Flight Date\" timestamp");
        assert_eq!(found, expected.map(|(path, ty)| (path.to_owned(), ty)));
        assert_eq!(types("x decimal, date decimal(5)")[0].1, DECIMAL);
        assert_eq!(types("user numeric(5)")[0].1, FieldType::Decimal { precision: 5, scale: 0 });
    }

    #[test]
    fn every_type_name_reads_as_its_type_and_so_does_each_types_own_name() {
        for (name, ty) in TYPES.iter().filter(|(name, _)| *name != DATE) {
            assert_eq!(types(&format!("x {name}, y text"))[0].1, *ty, "{name}");
            assert_eq!(types(&format!("x {}", ty.name()))[0].1, *ty, "{name}");
        }
    }

    #[test]
    fn a_field_is_no_date() {
        assert_eq!(
            error("x int, \"Flight Date\" DATE"),
            "a field is declared a timestamp; a date alone is the start of its day\n  x int, \"Flight Date\" DATE\n\
             \x20                      ^\n  hint: '\"Flight Date\" timestamp' declares it, and \"Flight Date\"::date in an \
             expression cuts it to days"
        );
        assert_eq!(types("date timestamp")[0].1, FieldType::Time);
    }

    #[test]
    fn an_unknown_type_suggests_a_known_one() {
        assert_eq!(
            error("id bigint, amount duoble"),
            "there is no type \"duoble\"\n  id bigint, amount duoble\n                    ^\n  \
             hint: did you mean double? types are bigint, double, boolean, text, decimal(p,s), timestamp"
        );
        assert_eq!(error("x blob[]").lines().next(), Some("there is no type \"blob\""),);
    }

    #[test]
    fn broken_lists_show_the_place() {
        assert_eq!(error(""), "expected a field, found the end\n  \n  ^");
        assert_eq!(error("a int,"), "expected a field, found the end\n  a int,\n        ^");
        assert_eq!(
            error("a-b int"),
            "expected a type, found -\n  a-b int\n   ^\n  hint: a field with an odd name goes in double quotes"
        );
        assert_eq!(error("a int; b int"), "expected a comma or the end, found ;\n  a int; b int\n       ^");
        assert_eq!(error("a decimal(x)"), "expected a number, found x\n  a decimal(x)\n            ^");
        assert_eq!(error("a decimal(3"), "expected ), found the end\n  a decimal(3\n             ^");
        assert_eq!(error("a int(3)"), "int takes no size\n  a int(3)\n    ^");
        assert_eq!(error("a int, a text"), "\"a\" is declared twice\n  a int, a text\n         ^");
        for bad in ["0,0", "39,2", "5,6", "99999,1"] {
            assert!(error(&format!("a decimal({bad})")).contains("cannot be"), "{bad}");
        }
    }
}
