//! SQL text as tokens and as a list of select items, and errors that show the place.
//!
//! Must not know what the items are for. Field names in event files are no SQL author's choice (`user`, `date`,
//! `order`), so a keyword where only a name can stand is a name.

use crate::error::{Error, Result};
use sqlparser::ast::{
    ExcludeSelectItem, Expr, FunctionArguments, Ident, ObjectName, ObjectNamePart, OrderByExpr, SelectItem,
    SelectItemQualifiedWildcardKind, Spanned, WildcardAdditionalOptions,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer, Word};

/// How deep expressions may nest, so that no input can exhaust the stack.
const DEPTH: usize = 50;
/// How many operators may stand in one text: the parser nests `a + b + c` as deep as it is long.
const OPERATORS: usize = 500;
/// What looks for patterns.
pub(super) const PATTERNS: &str = "s LIKE 'a%' and regexp_matches(s, '^a.*') look for patterns";
/// How much of a long line an error shows before and behind the place.
const SHOWN: usize = 50;

/// The text of a flag, for errors that point into it.
#[derive(Clone, Copy)]
pub(super) struct Sql<'a> {
    /// What was typed.
    pub(super) text: &'a str,
    /// What each item of the list should be: `a field`.
    pub(super) takes: &'static str,
}

/// An item of a list with its name, if it was given one.
pub(super) struct Item {
    /// What it is.
    pub(super) expr: Expr,
    /// `AS name`.
    pub(super) alias: Option<String>,
    /// Where it starts.
    pub(super) start: Location,
    /// It as it was typed, in the parser's spacing.
    pub(super) typed: String,
}

/// What a list of columns may hold.
pub(super) enum Selected {
    /// One column.
    One(Box<Item>),
    /// `*` or `l.*`
    All(Star),
}

/// `*`, `l.*` or `l.* EXCLUDE (a, b)`.
pub(super) struct Star {
    /// What stands before it.
    pub(super) of: Option<String>,
    /// What is left out.
    pub(super) but: Vec<String>,
    /// Where it starts.
    pub(super) start: Location,
}

impl Sql<'_> {
    /// Splits the text into tokens, without spaces and comments.
    pub(super) fn tokens(self) -> Result<Vec<TokenWithSpan>> {
        let tokens = Tokenizer::new(&GenericDialect {}, self.text).tokenize_with_location();
        let mut tokens = tokens.map_err(|error| self.error(error.location, own_words(&error.message)))?;
        tokens.retain(|token| !matches!(token.token, Token::Whitespace(_)));
        Ok(tokens)
    }

    /// Reads a list of expressions, each perhaps with a name.
    pub(super) fn items(self) -> Result<Vec<Item>> {
        let one = |selected: Selected| match selected {
            Selected::One(item) => Ok(*item),
            Selected::All(star) => Err(self.unsupported(star.start)),
        };
        self.columns()?.into_iter().map(one).collect()
    }

    /// The same with `*` for all there are.
    pub(super) fn columns(self) -> Result<Vec<Selected>> {
        let mut parser = self.parser()?;
        let items = parser.parse_comma_separated(|parser| {
            let start = parser.peek_token().span.start;
            parser.parse_select_item().map(|item| (start, item))
        });
        let items = items.map_err(|error| self.parse_error(&error))?;
        self.ended(&parser, "a comma or the end")?;
        items.into_iter().map(|(start, item)| self.selected(start, item)).collect()
    }

    /// Reads one expression, and where it starts.
    pub(super) fn expression(self) -> Result<(Expr, Location)> {
        let mut parser = self.parser()?;
        let start = parser.peek_token().span.start;
        let expr = parser.parse_expr().map_err(|error| self.parse_error(&error))?;
        self.ended(&parser, "the end")?;
        Ok((expr, start))
    }

    /// Reads a list of expressions to order by, and where each starts.
    pub(super) fn orders(self) -> Result<Vec<(OrderByExpr, Location)>> {
        let mut parser = self.parser()?;
        let orders = parser.parse_comma_separated(|parser| {
            let start = parser.peek_token().span.start;
            parser.parse_order_by_expr().map(|order| (order, start))
        });
        let orders = orders.map_err(|error| self.parse_error(&error))?;
        self.ended(&parser, "a comma or the end")?;
        Ok(orders)
    }

    fn parser(self) -> Result<Parser<'static>> {
        let tokens = self.tokens()?;
        if tokens.is_empty() {
            return Err(Error::usage(format!("expected {}, found nothing", self.takes)));
        }
        if depth(&tokens) > DEPTH {
            return Err(too_deep());
        }
        let chained = tokens.windows(2).filter(|pair| !is_operator(&pair[0].token) && is_chain(&pair[1].token)).count();
        if chained > OPERATORS {
            return Err(Error::usage(format!("expected at most {OPERATORS} operators, found {chained}"))
                .hint("x IN (1, 2, 3) is short for many comparisons"));
        }
        Ok(Parser::new(&GenericDialect {}).with_recursion_limit(DEPTH).with_tokens_with_locations(soften(tokens)))
    }

    fn ended(self, parser: &Parser<'_>, expected: &str) -> Result<()> {
        let next = parser.peek_token();
        match next.token {
            Token::EOF => Ok(()),
            _ if self.is_deep() => Err(too_deep()),
            _ => Err(self.advised(self.error(next.span.start, format!("expected {expected}, found {next}")))),
        }
    }

    fn selected(self, start: Location, item: SelectItem) -> Result<Selected> {
        let (expr, alias) = match item {
            SelectItem::UnnamedExpr(expr) => (expr, None),
            SelectItem::ExprWithAlias { expr, alias } => (expr, Some(alias.value)),
            SelectItem::Wildcard(options) => return self.star(start, None, options),
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), options) => {
                return self.star(start, Some(&name), options);
            }
            _ => return Err(self.unsupported(start)),
        };
        match alias {
            Some(alias) if alias.is_empty() => Err(self.error(start, "expected a name after AS, found an empty one")),
            alias => Ok(Selected::One(Item { typed: self.typed(&expr)?, expr, alias, start }.into())),
        }
    }

    fn star(self, start: Location, of: Option<&ObjectName>, options: WildcardAdditionalOptions) -> Result<Selected> {
        let but = match &options.opt_exclude {
            None => Vec::new(),
            Some(ExcludeSelectItem::Single(name)) => vec![last_part(name)],
            Some(ExcludeSelectItem::Multiple(names)) => names.iter().map(last_part).collect(),
        };
        let known = WildcardAdditionalOptions {
            wildcard_token: options.wildcard_token.clone(),
            opt_exclude: options.opt_exclude.clone(),
            ..WildcardAdditionalOptions::default()
        };
        let of = of.map(|name| name.0.iter().map(part_text).collect::<Vec<_>>().join("."));
        match known == options {
            true => Ok(Selected::All(Star { of, but, start })),
            false => Err(self.error(start, "expected * alone, or with EXCLUDE (a, b)")),
        }
    }

    /// An expression as it was typed: keywords that were made names have no quotes.
    fn typed(self, expr: &Expr) -> Result<String> {
        let mut text = expr.to_string();
        for token in self.tokens()? {
            if let Token::Word(Word { value, quote_style: None, keyword }) = token.token
                && keyword != Keyword::NoKeyword
                && !self.text.contains(&format!("\"{value}\""))
            {
                text = text.replace(&format!("\"{value}\""), &value);
            }
        }
        Ok(text)
    }

    /// Whether a name in double quotes stands there.
    pub(super) fn is_quoted(self, at: Location) -> bool {
        let place = |number: u64| usize::try_from(number).ok()?.checked_sub(1);
        let line = place(at.line).and_then(|line| self.text.lines().nth(line));
        let found = line.zip(place(at.column)).and_then(|(line, column)| line.chars().nth(column));
        found == Some('"')
    }

    /// An error with the line of the text it is about and a caret below the place.
    pub(super) fn error(self, at: Location, message: impl std::fmt::Display) -> Error {
        let line = usize::try_from(at.line).unwrap_or(0);
        let (text, column) = match line {
            0 => (self.text.trim_end().lines().last().unwrap_or(""), None),
            line => (self.text.lines().nth(line - 1).unwrap_or(""), usize::try_from(at.column - 1).ok()),
        };
        let chars: Vec<char> = text.chars().map(|c| if c == '\t' { ' ' } else { c }).collect();
        let column = column.unwrap_or(chars.len());
        let from = column.saturating_sub(SHOWN);
        let to = (column + SHOWN).min(chars.len());
        let shown: String = chars[from.min(to)..to].iter().collect();
        Error::usage(format!("{message}\n  {shown}\n  {}^", " ".repeat(column - from)))
    }

    /// Whether it nests so deeply that the parser may have given up for that alone, which it does not always tell.
    fn is_deep(self) -> bool {
        self.tokens().is_ok_and(|tokens| depth(&tokens) + 5 > DEPTH)
    }

    fn unsupported(self, at: Location) -> Error {
        self.error(at, format!("expected {}, found a list of columns", self.takes))
    }

    /// Where an expression starts; `start` where the parser did not keep it.
    pub(super) fn place(self, expr: &Expr, start: Location) -> Location {
        Some(beginning(expr)).filter(|place| place.line > 0).unwrap_or(start)
    }

    fn parse_error(self, error: &ParserError) -> Error {
        let text = match error {
            ParserError::TokenizerError(text) | ParserError::ParserError(text) => text,
            ParserError::RecursionLimitExceeded => return too_deep(),
        };
        if self.is_deep() {
            return too_deep();
        }
        let (message, place) = text.rsplit_once(" at Line: ").unwrap_or((text, ""));
        let place = place
            .split_once(", Column: ")
            .and_then(|(line, column)| Some(Location { line: line.parse().ok()?, column: column.parse().ok()? }));
        let place = place.unwrap_or_else(Location::empty);
        let found = self.word_at(place);
        let message = match own_words(message) {
            internal if internal.starts_with("no infix parser") => format!("expected an operator, found {found}"),
            words if words.ends_with("found ") => format!("{words}{found}"),
            words => words,
        };
        self.advised(self.error(place, message))
    }

    /// What is written at a place, up to the next blank.
    fn word_at(self, at: Location) -> String {
        let place = |number: u64| usize::try_from(number).ok()?.checked_sub(1);
        let line = place(at.line).and_then(|line| self.text.lines().nth(line));
        let word = line.zip(place(at.column)).map(|(line, column)| {
            line.chars().skip(column).take_while(|c| !c.is_whitespace()).take(SHOWN).collect::<String>()
        });
        word.filter(|word| !word.is_empty()).unwrap_or_else(|| "the end".to_owned())
    }

    /// The error about a text that cannot be parsed, with what is often the reason.
    fn advised(self, error: Error) -> Error {
        let Ok(tokens) = self.tokens() else { return error };
        let keyword = |token: &TokenWithSpan| match &token.token {
            Token::Word(Word { keyword, quote_style: None, .. }) => *keyword,
            _ => Keyword::NoKeyword,
        };
        let count = |wanted: Keyword| tokens.iter().filter(|token| keyword(token) == wanted).count();
        let opens = |token: &TokenWithSpan| token.token == Token::LParen;
        let filter_alone = tokens.windows(3).any(|all| {
            keyword(&all[0]) == Keyword::FILTER
                && (keyword(&all[1]) == Keyword::WHERE || (opens(&all[1]) && keyword(&all[2]) != Keyword::WHERE))
        });
        let begins_with_dot = tokens.first().is_some_and(|token| token.token == Token::Period);
        match () {
            () if count(Keyword::WHEN) > 0 && count(Keyword::END) < count(Keyword::CASE) => {
                error.hint("a CASE ends with END: CASE WHEN a THEN b ELSE c END")
            }
            () if filter_alone => error.hint("write FILTER (WHERE a > 1)"),
            () if count(Keyword::GLOB) > 0 => error.hint(PATTERNS),
            () if begins_with_dot => error.hint("a path begins with a name: a.b, items[0].sku"),
            () => error,
        }
    }
}

fn part_text(part: &ObjectNamePart) -> String {
    part.as_ident().map_or_else(|| part.to_string(), |ident| ident.value.clone())
}

fn last_part(name: &ObjectName) -> String {
    name.0.last().map(part_text).unwrap_or_default()
}

fn too_deep() -> Error {
    Error::usage("nested too deeply")
}

/// How deep brackets, CASE and signs or NOT in front of each other nest.
fn depth(tokens: &[TokenWithSpan]) -> usize {
    use Keyword::{CASE, END, NOT};
    let (mut opened, mut run, mut depth, mut deepest) = (Vec::new(), 0, 0, 0);
    for token in tokens {
        let keyword = if let Token::Word(word) = &token.token { word.keyword } else { Keyword::NoKeyword };
        match (&token.token, keyword) {
            (Token::LParen | Token::LBracket, _) | (_, CASE) => {
                opened.push(run + 1);
                depth += run + 1;
                run = 0;
            }
            (Token::RParen | Token::RBracket, _) | (_, END) => {
                depth -= opened.pop().unwrap_or(0);
                run = 0;
            }
            (Token::Minus | Token::Plus, _) | (_, NOT) => run += 1,
            _ => run = 0,
        }
        deepest = deepest.max(depth + run);
    }
    deepest
}

/// Where an expression starts. Chains of operators are as deep as they are long, so they are gone along, not into.
fn beginning(expr: &Expr) -> Location {
    let mut expr = expr;
    loop {
        expr = match expr {
            Expr::BinaryOp { left: x, .. }
            | Expr::IsNull(x)
            | Expr::IsNotNull(x)
            | Expr::IsUnknown(x)
            | Expr::IsNotUnknown(x)
            | Expr::IsTrue(x)
            | Expr::IsNotTrue(x)
            | Expr::IsFalse(x)
            | Expr::IsNotFalse(x)
            | Expr::IsDistinctFrom(x, _)
            | Expr::IsNotDistinctFrom(x, _)
            | Expr::In { expr: x, .. }
            | Expr::Between { expr: x, .. }
            | Expr::Like { expr: x, .. }
            | Expr::ILike { expr: x, .. }
            | Expr::UnaryOp { expr: x, .. }
            | Expr::Cast { expr: x, .. }
            | Expr::CompoundFieldAccess { root: x, .. }
            | Expr::Nested(x) => x,
            Expr::Case { case_token, .. } => return case_token.0.span.start,
            Expr::Function(function) => return function.name.span().start,
            other => return other.span().start,
        };
    }
}

/// The parser's message as we write messages: `Expected: ), found: EOF` is `expected ), found the end`.
fn own_words(message: &str) -> String {
    if message.starts_with("Expected: [NOT] NULL |") {
        let found = message.rsplit_once(", found: ").map_or("EOF", |(_, found)| found);
        return own_words(&format!("Expected: NULL, TRUE, FALSE or DISTINCT FROM, found: {found}"));
    }
    let text = message.replace("an identifier", "a name").replace("a data type name", "a type");
    let text = text.trim_end_matches('.').replace("Expected: ", "expected ").replace("found: ", "found ");
    let text = text.replace("found EOF", "found the end").replace("before EOF", "before the end");
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// Takes from keywords their meaning where only a name can stand, between commas, dots, brackets and `AS`: they become
/// quoted names, as the parser looks at some words themselves.
fn soften(mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    for i in 0..tokens.len() {
        let before = i.checked_sub(1).map(|i| &tokens[i].token);
        let after = tokens.get(i + 1).map(|token| &token.token);
        let Token::Word(word) = &tokens[i].token else { continue };
        if is_division(before, word, after) {
            tokens[i].token = Token::DuckIntDiv;
        } else if is_name(before, word, after) && !is_in_phrase(&tokens, i, word) {
            let name = Word { value: word.value.clone(), quote_style: Some('"'), keyword: Keyword::NoKeyword };
            tokens[i].token = Token::Word(name);
        }
    }
    tokens
}

/// Whether a keyword stands where only a name can.
fn is_name(before: Option<&Token>, word: &Word, after: Option<&Token>) -> bool {
    let opens = is_prefix(word) && after.is_some_and(is_operator);
    let keyword = word.keyword != Keyword::NoKeyword && !is_literal(word) && !opens;
    keyword && may_precede_name(before) && may_follow_name(before, word, after)
}

fn may_precede_name(token: Option<&Token>) -> bool {
    match token {
        None | Some(Token::LParen | Token::Comma | Token::Period) => true,
        Some(Token::Word(word)) => {
            use Keyword::{AND, BETWEEN, DISTINCT, ELSE, ILIKE, LIKE, NOT, OR, THEN, WHEN};
            [DISTINCT, AND, OR, NOT, WHEN, THEN, ELSE, BETWEEN, LIKE, ILIKE].contains(&word.keyword)
        }
        Some(Token::DoubleColon) => false,
        Some(other) => is_operator(other),
    }
}

fn may_follow_name(before: Option<&Token>, name: &Word, after: Option<&Token>) -> bool {
    use Keyword::{AND, AS, BETWEEN, ILIKE, IN, IS, LIKE, OR};
    match after {
        None | Some(Token::RParen | Token::Comma | Token::Period) => true,
        // The parser itself takes most keywords in front of these for names, but not the two that open something.
        Some(Token::Word(word)) if matches!(name.keyword, Keyword::INTERVAL | Keyword::EXISTS) => {
            [AND, AS, BETWEEN, ILIKE, IN, IS, LIKE, OR].contains(&word.keyword)
        }
        Some(Token::Word(word)) => word.keyword == AS,
        Some(other) => before == Some(&Token::Period) || is_operator(other),
    }
}

/// Whether a word is the keyword that the words around it make it, whatever sign follows: `x NOT BETWEEN -1 AND 1`,
/// `x IS DISTINCT FROM -1`, `FILTER (WHERE -x > 1)`, `INTERVAL -5 MINUTE`.
fn is_in_phrase(tokens: &[TokenWithSpan], i: usize, word: &Word) -> bool {
    use Keyword::{
        BETWEEN, CASE, DISTINCT, FILTER, FROM, ILIKE, IN, INTERVAL, IS, LIKE, NOT, REGEXP, RLIKE, SIMILAR, WHERE,
    };
    let token = |back: usize| Some(&tokens[i.checked_sub(back)?].token);
    let is = |back: usize, keyword: Keyword| matches!(token(back), Some(Token::Word(w)) if w.keyword == keyword);
    match word.keyword {
        BETWEEN | IN | LIKE | ILIKE | REGEXP | RLIKE | SIMILAR => {
            is(1, NOT) && !may_precede_name(token(2)) && !is(2, CASE) && !is(2, WHERE)
        }
        FROM => is(1, DISTINCT) && (is(2, IS) || is(2, NOT)),
        WHERE => token(1) == Some(&Token::LParen) && is(2, FILTER),
        INTERVAL => is_interval(&tokens[i + 1..]),
        _ => false,
    }
}

/// Whether a signed number and its unit follow.
fn is_interval(behind: &[TokenWithSpan]) -> bool {
    let mut behind = behind.iter().map(|token| &token.token);
    matches!(behind.next(), Some(Token::Minus | Token::Plus))
        && matches!(behind.next(), Some(Token::Number(..) | Token::Word(_)))
        && matches!(behind.next(), Some(Token::Word(unit)) if is_unit(unit))
}

fn is_unit(word: &Word) -> bool {
    const UNITS: [&str; 10] =
        ["microsecond", "millisecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year"];
    let name = word.value.to_lowercase();
    word.quote_style.is_none() && UNITS.contains(&name.strip_suffix('s').unwrap_or(&name))
}

/// Whether it is `DIV` between two operands, which is `//`.
fn is_division(before: Option<&Token>, word: &Word, after: Option<&Token>) -> bool {
    if word.keyword != Keyword::DIV {
        return false;
    }
    let operand = |token: &Token| matches!(token, Token::Word(_) | Token::Number(..));
    before.is_some_and(|token| operand(token) || matches!(token, Token::RParen | Token::RBracket))
        && after.is_some_and(|token| operand(token) || *token == Token::LParen)
        && !matches!(after, Some(Token::Word(Word { keyword: Keyword::AS, .. })))
}

/// Whether it makes a tree deeper.
fn is_chain(token: &Token) -> bool {
    match token {
        Token::Word(word) => matches!(word.keyword, Keyword::AND | Keyword::OR | Keyword::IS),
        Token::Arrow | Token::LongArrow => true,
        other => is_operator(other),
    }
}

/// Whether it stands between two operands.
fn is_operator(token: &Token) -> bool {
    use Token::{
        Div, DoubleColon, DoubleEq, DuckIntDiv, Eq, Gt, GtEq, LBracket, Lt, LtEq, Minus, Mod, Mul, Neq, Plus,
        StringConcat,
    };
    matches!(
        token,
        DoubleColon
            | DoubleEq
            | Div
            | DuckIntDiv
            | Eq
            | Gt
            | GtEq
            | LBracket
            | Lt
            | LtEq
            | Minus
            | Mod
            | Mul
            | Neq
            | Plus
            | StringConcat
    )
}

/// Whether the word means something of its own wherever it stands.
fn is_literal(word: &Word) -> bool {
    use Keyword::{ALL, DISTINCT, FALSE, NULL, TRUE};
    [ALL, DISTINCT, FALSE, NULL, TRUE].contains(&word.keyword)
}

/// Whether the word means something of its own in front of an operator: `NOT -x`.
fn is_prefix(word: &Word) -> bool {
    use Keyword::{CASE, NOT};
    [CASE, NOT].contains(&word.keyword)
}

/// The names of a plain field, outermost first; none for any other expression.
pub(super) fn field(expr: &Expr) -> Option<Vec<String>> {
    let names = |idents: &[Ident]| idents.iter().map(|ident| ident.value.clone()).collect::<Vec<_>>();
    let parts = match expr {
        Expr::Identifier(ident) => vec![ident.value.clone()],
        Expr::CompoundIdentifier(idents) => names(idents),
        // A name that SQL reads as a call without brackets, like `user` in front of an alias.
        Expr::Function(call) if matches!(call.args, FunctionArguments::None) => match &call.name.0[..] {
            [ObjectNamePart::Identifier(ident)] => vec![ident.value.clone()],
            _ => return None,
        },
        _ => return None,
    };
    parts.iter().all(|part| !part.is_empty()).then_some(parts)
}

/// A name as it is typed: in double quotes where it is no plain word.
pub(super) fn quoted(name: &str) -> String {
    let starts = name.starts_with(|c: char| c.is_alphabetic() || "_#@".contains(c));
    match starts && name.chars().all(|c| c.is_alphanumeric() || "_#@$".contains(c)) {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

/// The candidate a typing error away from `name`, if there is one.
pub(super) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let near = candidates.map(|candidate| (strsim::damerau_levenshtein(&name, candidate), candidate));
    near.min().filter(|&(distance, candidate)| distance <= (candidate.len() / 2).clamp(1, 2)).map(|(_, near)| near)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Sql { text, takes: "a field" }.items().map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn what_the_parser_says_is_put_in_plain_words() {
        let condition =
            |text: &str| Sql { text, takes: "a condition" }.expression().map(|_| ()).unwrap_err().to_string();
        for (text, message, hint) in [
            ("n IS NOT", "expected NULL, TRUE, FALSE or DISTINCT FROM, found the end\n", ""),
            ("s GLOB 'x'", "expected an operator, found GLOB\n", PATTERNS),
            (".payload", "expected an expression, found .payload\n", "a path begins with a name"),
            ("CASE WHEN n > 1 THEN 1", "expected", "a CASE ends with END"),
            ("CASE n WHEN 1 THEN 2", "expected", "a CASE ends with END"),
            ("n::", "expected a type, found the end\n", ""),
            ("n NOT", "expected the end, found NOT\n", ""),
        ] {
            let found = condition(text);
            assert!(found.starts_with(message) && found.contains(hint), "{text}: {found}");
            assert_eq!(found.contains("hint"), !hint.is_empty(), "{found}");
        }
        for text in ["count(*) FILTER (a = 'x')", "count(*) FILTER WHERE a = 'x'"] {
            assert!(error(text).ends_with("hint: write FILTER (WHERE a > 1)"), "{}", error(text));
        }
    }

    #[test]
    fn errors_point_at_the_place() {
        assert_eq!(error("sum(a"), "expected ), found the end\n  sum(a\n       ^");
        assert_eq!(error("a,\n  b c d"), "expected a comma or the end, found d\n    b c d\n        ^");
        assert_eq!(error("é, ?)"), "expected a comma or the end, found )\n  é, ?)\n      ^");
        assert_eq!(error(" "), "expected a field, found nothing");
        assert_eq!(error("a,"), "expected an expression, found the end\n  a,\n    ^");
        assert!(
            error("a, \"b").contains("close delimiter '\"' before the end\n  a, \"b\n     ^"),
            "{}",
            error("a, \"b")
        );
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let text = format!("{}b c d, {}z", "a, ".repeat(100), "y, ".repeat(100));
        let error = error(&text);
        let lines: Vec<&str> = error.lines().collect();
        assert_eq!((lines[1].len(), lines[2].len()), (2 + 2 * SHOWN, 2 + SHOWN + 1));
        assert_eq!(&lines[1][lines[2].len() - 1..][..2], "d,");
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_overflow() {
        for opening in ["(", "NOT ", "CASE WHEN true THEN ", "- ", "lower(", "a[", "NOT (", "CASE WHEN NOT a THEN - "] {
            for times in [60, 3_000] {
                assert_eq!(error(&opening.repeat(times)), "nested too deeply", "{opening}");
            }
        }
        assert!(error(&format!("{}a b c", "NOT ".repeat(20))).starts_with("expected a comma or the end, found c"));
    }

    #[test]
    fn names_are_quoted_where_they_must_be() {
        assert_eq!(quoted("page_id"), "page_id");
        assert_eq!(quoted("@timestamp"), "@timestamp");
        assert_eq!(quoted("Flight \"x\""), "\"Flight \"\"x\"\"\"");
        assert_eq!(quoted("2xx"), "\"2xx\"");
    }
}
