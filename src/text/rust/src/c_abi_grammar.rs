//! The functions of samebit_grammar.h; what holds for c_abi.rs holds here.

use crate::c_abi::{call, items, owned_string, text, texts, OwnedString, Slice};
use crate::failure::{Code, Outcome};
use crate::grammar::{Factory, Grammar, Limits, Source, State};

#[repr(C)]
pub struct GrammarLimits {
    grammar_items: u64,
    build_fuel: u64,
    step_fuel: u64,
    step_items: u64,
    row_items: u64,
    lexer_states: u64,
}

#[repr(C)]
pub struct GrammarInput {
    lark: Slice,
    schemas: *const Slice,
    schema_count: usize,
    validates: u32,
}

#[no_mangle]
pub unsafe extern "C" fn samebit_grammar_factory_make(
    token_bytes: *const u8,
    byte_ends: *const u32,
    count: u32,
    limits: *const GrammarLimits,
    made: *mut *mut Factory,
    message: *mut OwnedString,
) -> Code {
    let limits = &*limits;
    call(made, message, || {
        let ends = items(byte_ends, count as usize);
        let bytes = items(token_bytes, ends.last().copied().unwrap_or(0) as usize);
        let begins = std::iter::once(0).chain(ends.iter().copied());
        let tokens: Vec<&[u8]> =
            begins.zip(ends).map(|(begin, &end)| &bytes[begin as usize..end as usize]).collect();
        let limits = Limits {
            grammar_items: limits.grammar_items as usize,
            build_fuel: limits.build_fuel,
            step_fuel: limits.step_fuel,
            step_items: limits.step_items as usize,
            row_items: limits.row_items as usize,
            lexer_states: limits.lexer_states as usize,
        };
        Ok(Box::into_raw(Box::new(Factory::new(&tokens, &limits)?)))
    })
}

#[no_mangle]
pub unsafe extern "C" fn samebit_grammar_factory_free(factory: *mut Factory) {
    if !factory.is_null() {
        drop(Box::from_raw(factory));
    }
}

#[no_mangle]
pub unsafe extern "C" fn samebit_grammar_make(
    factory: *const Factory,
    input: *const GrammarInput,
    made: *mut *mut Grammar,
    message: *mut OwnedString,
) -> Code {
    let input = &*input;
    call(made, message, || {
        let source = Source {
            lark: text(input.lark, || "the grammar".into())?,
            schemas: texts(input.schemas, input.schema_count, "schemas")?,
            validates: input.validates != 0,
        };
        Ok(Box::into_raw(Box::new((*factory).build(&source)?)))
    })
}

#[no_mangle]
pub unsafe extern "C" fn samebit_grammar_complaint(
    grammar: *const Grammar,
    answer: Slice,
    complaint: *mut OwnedString,
    message: *mut OwnedString,
) -> Code {
    call(complaint, message, || Ok(owned_string((*grammar).complaint(text(answer, || "the answer".into())?))))
}

#[no_mangle]
pub unsafe extern "C" fn samebit_grammar_free(grammar: *mut Grammar) {
    if !grammar.is_null() {
        drop(Box::from_raw(grammar));
    }
}

#[no_mangle]
pub unsafe extern "C" fn samebit_grammar_start(
    grammar: *const Grammar,
    made: *mut *mut State,
    message: *mut OwnedString,
) -> Code {
    call(made, message, || Ok(Box::into_raw(Box::new((*grammar).start()))))
}

#[no_mangle]
pub unsafe extern "C" fn samebit_grammar_state_copy(
    state: *const State,
    made: *mut *mut State,
    message: *mut OwnedString,
) -> Code {
    call(made, message, || Ok(Box::into_raw(Box::new((*state).copy()))))
}

#[no_mangle]
pub unsafe extern "C" fn samebit_grammar_state_mask(
    state: *mut State,
    words: *mut u32,
    word_count: usize,
    may_end: *mut u32,
    message: *mut OwnedString,
) -> Code {
    let work = || -> Outcome<u32> {
        let words = if word_count == 0 { &mut [] } else { std::slice::from_raw_parts_mut(words, word_count) };
        Ok((*state).mask(words)? as u32)
    };
    call(may_end, message, work)
}

#[no_mangle]
pub unsafe extern "C" fn samebit_grammar_state_commit(
    state: *mut State,
    id: u32,
    complete: *mut u32,
    message: *mut OwnedString,
) -> Code {
    call(complete, message, || Ok((*state).commit(id)? as u32))
}

#[no_mangle]
pub unsafe extern "C" fn samebit_grammar_state_free(state: *mut State) {
    if !state.is_null() {
        drop(Box::from_raw(state));
    }
}
