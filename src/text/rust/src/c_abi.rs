//! The functions of samebit_text.h. All unsafe code of the crate is here, in c_abi_grammar.rs and in
//! allocation_budget.rs.
//!
//! What a caller must keep to: every pointer is null or points to as many valid entries as its count says, for the
//! length of the call; owned results are freed once.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Once;

use minijinja::Value;

use crate::failure::{fail, malformed, Code, Outcome};
use crate::gguf_vocabulary::GgufVocabulary;
use crate::template::{Message, Request, Template};
use crate::tokenizer::Tokenizer;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Slice {
    data: *const u8,
    size: usize,
}

#[repr(C)]
pub struct OwnedString {
    data: *mut u8,
    size: usize,
    capacity: usize,
}

#[repr(C)]
pub struct OwnedIds {
    data: *mut u32,
    size: usize,
    capacity: usize,
}

#[repr(C)]
pub struct GgufInput {
    model: Slice,
    pre: Slice,
    pieces: *const Slice,
    piece_count: usize,
    scores: *const f32,
    kinds: *const i32,
    merges: *const Slice,
    merge_count: usize,
    add_space_prefix: u32,
    unknown_id: i64,
    vocabulary: u32,
    piece_work_max: u64,
    merge_count_max: u64,
}

#[repr(C)]
pub struct Table {
    pieces: *const u8,
    piece_ends: *const u32,
    bytes: *const u8,
    byte_ends: *const u32,
    control: *const u8,
    count: u32,
}

#[repr(C)]
pub struct MessageInput {
    role: Slice,
    content: Slice,
    extra_json: Slice,
}

#[repr(C)]
pub struct RenderInput {
    messages: *const MessageInput,
    message_count: usize,
    add_generation_prompt: u32,
    bos_token: Slice,
    eos_token: Slice,
    extra_json: Slice,
    has_now: u32,
    now_unix_seconds: i64,
    fuel: u64,
    output_bytes_max: u64,
    memory_bytes_max: u64,
    allocations_max: u64,
    seconds_max: u64,
}

#[repr(C)]
pub struct VariableInput {
    name: Slice,
    kind: u32,
    text: Slice,
    whole: i64,
    number: f64,
}

pub(crate) unsafe fn items<'a, T>(data: *const T, count: usize) -> &'a [T] {
    if data.is_null() || count == 0 {
        &[]
    } else {
        std::slice::from_raw_parts(data, count)
    }
}

pub(crate) unsafe fn bytes<'a>(slice: Slice) -> &'a [u8] {
    items(slice.data, slice.size)
}

pub(crate) unsafe fn text<'a>(slice: Slice, what: impl FnOnce() -> String) -> Outcome<&'a str> {
    std::str::from_utf8(bytes(slice))
        .map_err(|e| malformed(format!("{} is not UTF-8: invalid at byte {}", what(), e.valid_up_to())))
}

pub(crate) unsafe fn texts<'a>(data: *const Slice, count: usize, what: &str) -> Outcome<Vec<&'a str>> {
    items(data, count).iter().enumerate().map(|(i, &s)| text(s, || format!("{what}[{i}]"))).collect()
}

pub(crate) fn owned_string(text: String) -> OwnedString {
    let mut bytes = std::mem::ManuallyDrop::new(text.into_bytes());
    OwnedString { data: bytes.as_mut_ptr(), size: bytes.len(), capacity: bytes.capacity() }
}

/// Runs one call: no panic leaves, nothing is printed, and the library never starts threads of its own.
pub(crate) unsafe fn call<T>(result: *mut T, message: *mut OwnedString, work: impl FnOnce() -> Outcome<T>) -> Code {
    static PREPARE: Once = Once::new();
    PREPARE.call_once(|| {
        tokenizers::parallelism::set_parallelism(false);
        std::panic::set_hook(Box::new(|_| {}));
    });
    let outcome = catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| fail(Code::Internal, "the text library failed on this input"));
    match outcome {
        Ok(value) => {
            result.write(value);
            Code::Ok
        }
        Err(failure) => {
            message.write(owned_string(failure.message));
            failure.code
        }
    }
}

#[no_mangle]
pub unsafe extern "C" fn samebit_text_free_string(string: OwnedString) {
    if !string.data.is_null() {
        drop(Vec::from_raw_parts(string.data, string.size, string.capacity));
    }
}

#[no_mangle]
pub unsafe extern "C" fn samebit_text_free_ids(ids: OwnedIds) {
    if !ids.data.is_null() {
        drop(Vec::from_raw_parts(ids.data, ids.size, ids.capacity));
    }
}

#[no_mangle]
pub unsafe extern "C" fn samebit_tokenizer_from_gguf(
    input: *const GgufInput,
    made: *mut *mut Tokenizer,
    message: *mut OwnedString,
) -> Code {
    let input = &*input;
    call(made, message, || {
        let vocabulary = GgufVocabulary {
            model: text(input.model, || "tokenizer.ggml.model".into())?,
            pre: text(input.pre, || "tokenizer.ggml.pre".into())?,
            pieces: texts(input.pieces, input.piece_count, "tokenizer.ggml.tokens")?,
            scores: items(input.scores, input.piece_count),
            kinds: items(input.kinds, input.piece_count),
            merges: texts(input.merges, input.merge_count, "tokenizer.ggml.merges")?,
            add_space_prefix: input.add_space_prefix != 0,
            unknown_id: u32::try_from(input.unknown_id).ok(),
            vocabulary: input.vocabulary,
            piece_work_max: input.piece_work_max,
            merge_count_max: input.merge_count_max,
        };
        Ok(Box::into_raw(Box::new(crate::gguf::build(&vocabulary)?)))
    })
}

#[no_mangle]
pub unsafe extern "C" fn samebit_tokenizer_from_json(
    json: Slice,
    vocabulary: u32,
    made: *mut *mut Tokenizer,
    message: *mut OwnedString,
) -> Code {
    call(made, message, || Ok(Box::into_raw(Box::new(crate::hugging_face::build(bytes(json), vocabulary)?))))
}

#[no_mangle]
pub unsafe extern "C" fn samebit_tokenizer_free(tokenizer: *mut Tokenizer) {
    if !tokenizer.is_null() {
        drop(Box::from_raw(tokenizer));
    }
}

#[no_mangle]
pub unsafe extern "C" fn samebit_tokenizer_encode(
    tokenizer: *const Tokenizer,
    input: Slice,
    specials_as_text: u32,
    ids: *mut OwnedIds,
    message: *mut OwnedString,
) -> Code {
    call(ids, message, || {
        let encoded = (*tokenizer).encode(bytes(input), specials_as_text != 0)?;
        let mut encoded = std::mem::ManuallyDrop::new(encoded);
        Ok(OwnedIds { data: encoded.as_mut_ptr(), size: encoded.len(), capacity: encoded.capacity() })
    })
}

#[no_mangle]
pub unsafe extern "C" fn samebit_tokenizer_table(tokenizer: *const Tokenizer) -> Table {
    let table = &(*tokenizer).table;
    Table {
        pieces: table.pieces.as_ptr(),
        piece_ends: table.piece_ends.as_ptr(),
        bytes: table.bytes.as_ptr(),
        byte_ends: table.byte_ends.as_ptr(),
        control: table.control.as_ptr(),
        count: table.control.len() as u32,
    }
}

#[no_mangle]
pub unsafe extern "C" fn samebit_template_make(
    source: Slice,
    made: *mut *mut Template,
    message: *mut OwnedString,
) -> Code {
    call(made, message, || {
        let source = text(source, || "the chat template".into())?;
        Ok(Box::into_raw(Box::new(Template::new(source)?)))
    })
}

#[no_mangle]
pub unsafe extern "C" fn samebit_template_render(
    template: *const Template,
    input: *const RenderInput,
    output: *mut OwnedString,
    message: *mut OwnedString,
) -> Code {
    let input = &*input;
    call(output, message, || {
        let messages = items(input.messages, input.message_count)
            .iter()
            .enumerate()
            .map(|(i, m)| {
                Ok(Message {
                    role: text(m.role, || format!("the role of message {i}"))?,
                    content: text(m.content, || format!("the content of message {i}"))?,
                    extra_json: text(m.extra_json, || format!("the members of message {i}"))?,
                })
            })
            .collect::<Outcome<Vec<_>>>()?;
        let request = Request {
            messages,
            add_generation_prompt: input.add_generation_prompt != 0,
            bos_token: text(input.bos_token, || "bos_token".into())?,
            eos_token: text(input.eos_token, || "eos_token".into())?,
            extra_json: text(input.extra_json, || "the template variables".into())?,
            values: None,
            now_unix_seconds: (input.has_now != 0).then_some(input.now_unix_seconds),
            fuel: input.fuel,
            output_bytes_max: input.output_bytes_max,
            memory_bytes_max: input.memory_bytes_max,
            allocations_max: input.allocations_max,
            seconds_max: input.seconds_max,
        };
        Ok(owned_string((*template).render(&request)?))
    })
}

#[no_mangle]
pub unsafe extern "C" fn samebit_prompt_make(
    source: Slice,
    made: *mut *mut Template,
    message: *mut OwnedString,
) -> Code {
    call(made, message, || {
        let source = text(source, || "the text".into())?;
        Ok(Box::into_raw(Box::new(Template::strict(source)?)))
    })
}

#[no_mangle]
pub unsafe extern "C" fn samebit_prompt_names(
    template: *const Template,
    names: *mut OwnedString,
    message: *mut OwnedString,
) -> Code {
    call(names, message, || Ok(owned_string((*template).names_asked_for()?.join("\n"))))
}

unsafe fn value_of(variable: &VariableInput) -> Outcome<Value> {
    Ok(match variable.kind {
        0 => Value::from(text(variable.text, || "a variable".into())?),
        1 => Value::from(variable.whole),
        2 => Value::from(variable.number),
        _ => Value::from(variable.whole != 0),
    })
}

/// input: its bounds alone are looked at.
#[no_mangle]
pub unsafe extern "C" fn samebit_prompt_render(
    template: *const Template,
    variables: *const VariableInput,
    variable_count: usize,
    input: *const RenderInput,
    output: *mut OwnedString,
    message: *mut OwnedString,
) -> Code {
    let input = &*input;
    call(output, message, || {
        let values = items(variables, variable_count)
            .iter()
            .map(|v| Ok((text(v.name, || "a variable's name".into())?.to_string(), value_of(v)?)))
            .collect::<Outcome<Vec<_>>>()?;
        let request = Request {
            messages: Vec::new(),
            add_generation_prompt: false,
            bos_token: "",
            eos_token: "",
            extra_json: "",
            values: Some(values),
            now_unix_seconds: None,
            fuel: input.fuel,
            output_bytes_max: input.output_bytes_max,
            memory_bytes_max: input.memory_bytes_max,
            allocations_max: input.allocations_max,
            seconds_max: input.seconds_max,
        };
        Ok(owned_string((*template).render(&request)?))
    })
}

#[no_mangle]
pub unsafe extern "C" fn samebit_template_free(template: *mut Template) {
    if !template.is_null() {
        drop(Box::from_raw(template));
    }
}
