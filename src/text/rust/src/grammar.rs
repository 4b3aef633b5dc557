//! Grammars over a vocabulary: which tokens may follow, so that an answer is of a form.
//!
//! Everything here is bounded by counts (items, states, fuel), never by a clock, and a state shares no cache with
//! another: the library's limits are spent by what a state has computed itself, so whether a limit is reached depends on
//! the state's own tokens alone and not on who else uses the same grammar.

use std::sync::{Arc, Mutex};

use llguidance::api::{GrammarWithLexer, ParserLimits, StopReason, TopLevelGrammar};
use llguidance::toktrie::{
    ApproximateTokEnv, SimpleVob, TokEnv, TokRxInfo, TokTrie, INVALID_TOKEN,
};
use llguidance::{JsonCompileOptions, ParserFactory, TokenParser};
use serde_json::Value;

use crate::allocation_budget::Budget;
use crate::deep_stack::{self, GaveUp};
use crate::failure::{fail, Code, Failure, Outcome};
use crate::schema_check::{self, at, shown_long};
use crate::schema_validator::SchemaValidator;

// Whitespace between tokens of JSON. Bounded, so that an answer cannot be filled with it: small models try to.
const WHITESPACE: &str = r"( |\n {0,40})";

// The library's recursion over a schema takes about 2.5 kB of stack a level, and the regular expressions' more.
const STACK_BYTES: usize = 256 << 20;

// Building a grammar: more than any schema that passes the checks was seen to need. Threads that reach it are left
// behind, asleep, with that much memory; the checks before exist so that none does.
const BUILD_BYTES: usize = 512 << 20;
const BUILD_ALLOCATIONS: u64 = 200_000_000;
const BUILD_SECONDS: u64 = 60;

pub struct Limits {
    pub grammar_items: usize,
    pub build_fuel: u64,
    pub step_fuel: u64,
    pub step_items: usize,
    pub row_items: usize,
    pub lexer_states: usize,
}

pub struct Factory {
    parsers: Arc<ParserFactory>,
    words: usize,
}

pub struct Grammar {
    fresh: Mutex<TokenParser>,
    validator: Option<SchemaValidator>,
    words: usize,
}

pub struct State {
    parser: TokenParser,
    words: usize,
    complete: bool,
}

pub struct Source<'a> {
    /// In the library's Lark dialect, with @schema0, @schema1, ... for the schemas; empty: the one schema is all.
    pub lark: &'a str,
    pub schemas: Vec<&'a str>,
    /// What the grammar cannot say is looked at in the whole answer (one schema, no lark); else it is refused.
    pub validates: bool,
}

fn limit_of(limits: &Limits) -> ParserLimits {
    ParserLimits {
        max_items_in_row: limits.row_items,
        initial_lexer_fuel: limits.build_fuel,
        step_lexer_fuel: limits.step_fuel,
        step_max_items: limits.step_items,
        max_lexer_states: limits.lexer_states,
        max_grammar_size: limits.grammar_items,
        precompute_large_lexemes: true,
        verbose_errors: false,
    }
}

impl Factory {
    /// tokens: the bytes of each id; empty for control tokens and holes, which no grammar lets through.
    pub fn new(tokens: &[&[u8]], limits: &Limits) -> Outcome<Factory> {
        let words: Vec<Vec<u8>> = tokens.iter().map(|bytes| bytes.to_vec()).collect();
        let trie = TokTrie::from(&TokRxInfo::new(words.len() as u32, INVALID_TOKEN), &words);
        let environment: TokEnv = Arc::new(ApproximateTokEnv::new(trie));
        let mut parsers = ParserFactory::new_simple(&environment)
            .map_err(|e| Failure { code: Code::Internal, message: format!("grammars: {}", shown_long(&e.to_string())) })?;
        parsers.quiet();
        *parsers.limits_mut() = limit_of(limits);
        Ok(Factory { parsers: Arc::new(parsers), words: tokens.len().div_ceil(32) })
    }

    pub fn build(&self, source: &Source) -> Outcome<Grammar> {
        let mut schemas = Vec::new();
        for (i, text) in source.schemas.iter().enumerate() {
            let schema: Value = serde_json::from_str(text)
                .map_err(|e| at_schema(i, at("", Code::Malformed, &format!("the schema is not JSON: {e}"))))?;
            schemas.push(schema);
        }
        let (parsers, lark, validates) = (self.parsers.clone(), source.lark.to_string(), source.validates);
        let bounds = deep_stack::Bounds {
            stack_bytes: STACK_BYTES,
            budget: Budget { bytes: BUILD_BYTES, times: BUILD_ALLOCATIONS },
            limit: std::time::Duration::from_secs(BUILD_SECONDS),
        };
        let words = self.words;
        deep_stack::run_for(&bounds, move || build_here(&parsers, &lark, schemas, validates, words)).unwrap_or_else(
            |gave_up| {
                let what = match gave_up {
                    GaveUp::OutOfBudget => "memory",
                    GaveUp::OutOfTime => "time",
                };
                Err(at_schema(0, at("", Code::TooLarge, &format!("the grammar of this schema needs too much {what}"))))
            },
        )
    }
}

/// The first line of a message about a schema is its index and the place in it.
fn at_schema(index: usize, failure: Failure) -> Failure {
    Failure { code: failure.code, message: format!("{index}{}", failure.message) }
}

fn build_here(
    parsers: &ParserFactory,
    lark: &str,
    schemas: Vec<Value>,
    validates: bool,
    words: usize,
) -> Outcome<Grammar> {
    let mut grammars = Vec::new();
    let mut validator = None;
    if !lark.is_empty() {
        grammars.push(GrammarWithLexer::from_lark(lark.to_string()));
    }
    for (i, schema) in schemas.iter().enumerate() {
        let checked = schema_check::check(schema).map_err(|f| at_schema(i, f))?;
        if validates {
            validator = Some(SchemaValidator::new(schema).map_err(|f| at_schema(i, f))?);
        } else if let Some(place) = &checked.validated {
            let message = "a grammar cannot enforce this keyword, and nothing validates the answer";
            return Err(at_schema(i, at(place, Code::Unsupported, message)));
        }
        let options = JsonCompileOptions {
            whitespace_pattern: Some(WHITESPACE.to_string()),
            coerce_one_of: validates,
            ..JsonCompileOptions::default()
        };
        let mut for_grammar = match checked.for_grammar {
            Value::Bool(true) => Value::Object(Default::default()),
            Value::Bool(false) => return Err(at_schema(i, at("", Code::Unsupported, "no value satisfies it"))),
            other => other,
        };
        options.apply_to(&mut for_grammar);
        let mut grammar = GrammarWithLexer::from_json_schema(for_grammar);
        grammar.name = Some(format!("schema{i}"));
        grammars.push(grammar);
    }
    let mut fresh = parsers.create_parser(TopLevelGrammar { grammars, max_tokens: None }).map_err(|e| {
        let text = shown_long(&e.to_string());
        let code = if is_limit(&text) { Code::TooLarge } else { Code::Unsupported };
        at_schema(0, at("", code, &format!("no grammar can be made of it: {text}")))
    })?;
    fresh.start_without_prompt();
    Ok(Grammar { fresh: Mutex::new(fresh), validator, words })
}

fn is_limit(text: &str) -> bool {
    ["too large", "too many", "fuel", "limit", "exceeded", "too complex"].iter().any(|word| text.contains(word))
}

impl Grammar {
    pub fn start(&self) -> State {
        // Poisoned only by a panic inside of a clone, which leaves the original as it was.
        let fresh = self.fresh.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        State { parser: fresh.deep_clone(), words: self.words, complete: false }
    }

    /// What is wrong with a whole answer; empty where nothing is.
    pub fn complaint(&self, answer: &str) -> String {
        match &self.validator {
            Some(validator) => validator.complaint(answer),
            None => String::new(),
        }
    }
}

impl State {
    pub fn copy(&self) -> State {
        State { parser: self.parser.deep_clone(), words: self.words, complete: self.complete }
    }

    /// Sets the bits of the ids that may follow; whether the answer may end here.
    pub fn mask(&mut self, words: &mut [u32]) -> Outcome<bool> {
        if words.len() != self.words {
            return fail(Code::Internal, "a mask of another vocabulary");
        }
        words.fill(0);
        if self.complete {
            return Ok(true);
        }
        match self.parser.compute_mask() {
            Ok(mask) => copy_mask(&mask, words),
            // Nothing may follow: all right where the answer may end.
            Err(_) if self.parser.stop_reason() == StopReason::NoExtensionBias => {
                if !self.parser.is_accepting() {
                    return fail(Code::Unsupported, "no token of this model continues the answer as its grammar asks");
                }
                self.complete = true;
                return Ok(true);
            }
            Err(error) => return Err(self.over_limit(&error.to_string())),
        }
        Ok(self.parser.is_accepting())
    }

    /// Takes the token that was chosen; whether the answer is complete, so that nothing may follow.
    pub fn commit(&mut self, id: u32) -> Outcome<bool> {
        if self.complete {
            return fail(Code::Internal, "a token after the end of its grammar");
        }
        let taken = self.parser.consume_token(id).and_then(|_| self.parser.check_stop());
        self.complete = taken.map_err(|e| self.over_limit(&e.to_string()))?;
        Ok(self.complete)
    }

    fn over_limit(&self, text: &str) -> Failure {
        let text = shown_long(text);
        match self.parser.stop_reason() {
            StopReason::LexerTooComplex | StopReason::ParserTooComplex => Failure {
                code: Code::TooLarge,
                message: format!("the grammar became too complex for its limits: {text}"),
            },
            _ => Failure { code: Code::Internal, message: format!("the grammar: {text}") },
        }
    }
}

fn copy_mask(mask: &SimpleVob, words: &mut [u32]) {
    for (to, from) in words.iter_mut().zip(mask.as_slice()) {
        *to = *from;
    }
}
