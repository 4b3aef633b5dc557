//! The Rust libraries behind samebit's text module: tokenizers, chat templates
//! and grammars, behind the C ABI of samebit_text.h.

mod allocation_budget;
mod byte_level;
mod c_abi;
mod c_abi_grammar;
mod civil_time;
mod deep_stack;
mod failure;
mod gguf;
mod gguf_vocabulary;
mod grammar;
mod hugging_face;
mod python_json;
mod schema_check;
mod schema_validator;
mod sentence_piece;
mod tag_length;
mod template;
mod token_table;
mod tokenizer;
