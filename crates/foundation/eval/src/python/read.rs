//! From words to calls and values.

use super::Call;
use super::tokens::{Token, tokens};

/// The texts of calls are put together from several tokens: all are owned.
type Py = super::Py<'static>;

/// How deep values may nest.
const DEEPEST: usize = 64;

/// What an expression is before it is known what is wanted of it.
enum Expression {
    Value(Py),
    /// A name with dots.
    Name(String),
    Call(Call, Vec<Py>),
}

struct Reader {
    tokens: Vec<Token>,
    at: usize,
}

type Read<T> = Result<T, String>;

/// Reads calls.
pub(super) fn calls(text: &str) -> Read<Vec<Call>> {
    let mut reader = Reader { tokens: tokens(text)?, at: 0 };
    let found = match reader.peek_sign() {
        Some(open @ ("[" | "(")) => {
            reader.at += 1;
            let close = if open == "[" { "]" } else { ")" };
            let mut calls = Vec::new();
            while !reader.takes(close) {
                calls.push(reader.call()?);
                if !reader.takes(",") && reader.peek_sign() != Some(close) {
                    return Err("expected a comma between calls".to_owned());
                }
            }
            calls
        }
        _ => vec![reader.call()?],
    };
    if reader.at < reader.tokens.len() { Err("something follows the calls".to_owned()) } else { Ok(found) }
}

impl Reader {
    fn peek_sign(&self) -> Option<&'static str> {
        match self.tokens.get(self.at) {
            Some(Token::Sign(sign)) => Some(sign),
            _ => None,
        }
    }

    fn takes(&mut self, sign: &str) -> bool {
        let is_there = self.peek_sign() == Some(sign);
        self.at += usize::from(is_there);
        is_there
    }

    fn expects(&mut self, sign: &str) -> Read<()> {
        if self.takes(sign) { Ok(()) } else { Err(format!("expected `{sign}`")) }
    }

    fn call(&mut self) -> Read<Call> {
        match self.primary(DEEPEST)? {
            Expression::Call(call, _) => Ok(call),
            _ => Err("expected a call".to_owned()),
        }
    }

    /// A value: sums of products of signed values.
    fn value(&mut self, room: usize) -> Read<Py> {
        let mut left = self.product(room)?;
        while let Some(sign @ ("+" | "-")) = self.peek_sign() {
            self.at += 1;
            let right = self.product(room)?;
            left = calculate(&left, sign, &right)?;
        }
        Ok(left)
    }

    fn product(&mut self, room: usize) -> Read<Py> {
        let mut left = self.signed(room)?;
        while let Some(sign @ ("*" | "/" | "//")) = self.peek_sign() {
            self.at += 1;
            let right = self.signed(room)?;
            left = calculate(&left, sign, &right)?;
        }
        Ok(left)
    }

    fn signed(&mut self, room: usize) -> Read<Py> {
        let room = room.checked_sub(1).ok_or("nested too deep")?;
        if self.takes("-") {
            return match self.signed(room)? {
                Py::Int(whole) => whole.checked_neg().map(Py::Int).ok_or_else(|| "a number too large".to_owned()),
                Py::Float(number) => Ok(Py::Float(-number)),
                _ => Err("a sign with no number after it".to_owned()),
            };
        }
        if self.takes("+") {
            return self.signed(room);
        }
        let base = match self.primary(room)? {
            Expression::Value(value) => value,
            Expression::Name(name) => Py::Str(name.into()),
            Expression::Call(call, positional) => nested(call, &positional),
        };
        if self.takes("**") { calculate(&base, "**", &self.signed(room)?) } else { Ok(base) }
    }

    fn primary(&mut self, room: usize) -> Read<Expression> {
        let room = room.checked_sub(1).ok_or("nested too deep")?;
        let token = self.tokens.get(self.at).cloned().ok_or("the text ends too early")?;
        self.at += 1;
        let value = match token {
            Token::Int(whole) => Py::Int(whole),
            Token::Float(number) => Py::Float(number),
            Token::Text(text) => Py::Str(text.into()),
            Token::Sign("[") => Py::List(self.items("]", room)?.0),
            Token::Sign("{") => self.dict(room)?,
            Token::Sign("...") => Py::Str("...".into()),
            Token::Sign("(") => match self.items(")", room)? {
                (mut items, false) if items.len() == 1 => items.remove(0),
                (items, _) => Py::Tuple(items),
            },
            Token::Name(name) => match name.as_str() {
                "None" => Py::None,
                "True" => Py::Bool(true),
                "False" => Py::Bool(false),
                "lambda" | "not" | "and" | "or" | "if" | "else" | "for" | "in" | "is" | "await" | "yield" => {
                    return Err(format!("`{name}` is not supported"));
                }
                _ => return self.named(name, room),
            },
            Token::Sign(sign) => return Err(format!("unexpected `{sign}`")),
        };
        Ok(Expression::Value(value))
    }

    /// A name with dots, and the call of it.
    fn named(&mut self, mut name: String, room: usize) -> Read<Expression> {
        while self.takes(".") {
            match self.tokens.get(self.at) {
                Some(Token::Name(part)) => {
                    name.push('.');
                    name.push_str(part);
                    self.at += 1;
                }
                _ => return Err("expected a name after the dot".to_owned()),
            }
        }
        if self.takes("[") {
            let index = self.value(room)?;
            self.expects("]")?;
            return Ok(Expression::Name(format!("{name}[{}]", source(&index))));
        }
        if !self.takes("(") {
            return Ok(Expression::Name(name));
        }
        let (mut arguments, mut positional): (Vec<(String, Py)>, _) = (Vec::new(), Vec::new());
        while !self.takes(")") {
            let keyword = match (self.tokens.get(self.at), self.tokens.get(self.at + 1)) {
                (Some(Token::Name(keyword)), Some(Token::Sign("="))) => Some(keyword.clone()),
                _ => None,
            };
            match keyword {
                Some(keyword) => {
                    self.at += 2;
                    if arguments.iter().any(|(known, _)| *known == keyword) {
                        return Err(format!("`{keyword}` is given twice"));
                    }
                    let value = self.value(room)?;
                    arguments.push((keyword, value));
                }
                None if arguments.is_empty() => positional.push(self.value(room)?),
                None => return Err("an argument without a name follows one with a name".to_owned()),
            }
            if !self.takes(",") && self.peek_sign() != Some(")") {
                return Err("expected a comma between arguments".to_owned());
            }
        }
        Ok(Expression::Call(Call { name, arguments }, positional))
    }

    /// Items up to the closing sign, and whether a comma followed one.
    fn items(&mut self, close: &str, room: usize) -> Read<(Vec<Py>, bool)> {
        let (mut items, mut has_comma) = (Vec::new(), false);
        while !self.takes(close) {
            items.push(self.value(room)?);
            if self.takes(",") {
                has_comma = true;
            } else if self.peek_sign() != Some(close) {
                return Err("expected a comma between values".to_owned());
            }
        }
        Ok((items, has_comma))
    }

    fn dict(&mut self, room: usize) -> Read<Py> {
        let mut members: Vec<(Py, Py)> = Vec::new();
        while !self.takes("}") {
            let key = self.value(room)?;
            self.expects(":")?;
            let value = self.value(room)?;
            match members.iter_mut().find(|(known, _)| *known == key) {
                Some(member) => member.1 = value,
                None => members.push((key, value)),
            }
            if !self.takes(",") && self.peek_sign() != Some("}") {
                return Err("expected a comma between members".to_owned());
            }
        }
        Ok(Py::Dict(members))
    }
}

/// A call as a value: with names, a mapping of the function to them; without, its source.
fn nested(call: Call, positional: &[Py]) -> Py {
    if call.arguments.is_empty() {
        let list = positional.iter().map(source).collect::<Vec<_>>().join(", ");
        return Py::Str(format!("{}({list})", call.name).into());
    }
    let arguments = call.arguments.into_iter().map(|(name, value)| (Py::Str(name.into()), value)).collect();
    Py::Dict(vec![(Py::Str(call.name.into()), Py::Dict(arguments))])
}

/// A value as Python writes it. A name and a text are not told apart.
fn source(value: &Py) -> String {
    let list = |items: &[Py]| items.iter().map(source).collect::<Vec<_>>().join(", ");
    match value {
        Py::None => "None".to_owned(),
        Py::Bool(true) => "True".to_owned(),
        Py::Bool(false) => "False".to_owned(),
        Py::Int(whole) => whole.to_string(),
        Py::Float(number) => format!("{number:?}"),
        Py::Str(text) => text.to_string(),
        Py::List(items) => format!("[{}]", list(items)),
        Py::Tuple(items) => format!("({})", list(items)),
        Py::Dict(members) => {
            let members: Vec<_> = members.iter().map(|(k, v)| format!("{}: {}", source(k), source(v))).collect();
            format!("{{{}}}", members.join(", "))
        }
    }
}

fn calculate(left: &Py, sign: &str, right: &Py) -> Read<Py> {
    let wrong = || "a calculation that is not supported".to_owned();
    if let (Py::Int(left), Py::Int(right)) = (left, right) {
        return match sign {
            "+" => left.checked_add(*right).map(Py::Int),
            "-" => left.checked_sub(*right).map(Py::Int),
            "*" => left.checked_mul(*right).map(Py::Int),
            "**" if *right >= 0 => u32::try_from(*right).ok().and_then(|power| left.checked_pow(power)).map(Py::Int),
            "/" if *right != 0 => Some(Py::Float(*left as f64 / *right as f64)),
            "//" if *right > 0 => Some(Py::Int(left.div_euclid(*right))),
            _ => None,
        }
        .ok_or_else(wrong);
    }
    let number = |value: &Py| match value {
        Py::Int(whole) => Ok(*whole as f64),
        Py::Float(number) => Ok(*number),
        _ => Err(wrong()),
    };
    let (left, right) = (number(left)?, number(right)?);
    let result = match sign {
        "+" => left + right,
        "-" => left - right,
        "*" => left * right,
        "**" => left.powf(right),
        "/" if right != 0.0 => left / right,
        _ => return Err(wrong()),
    };
    if result.is_finite() { Ok(Py::Float(result)) } else { Err(wrong()) }
}
