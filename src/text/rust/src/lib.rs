//! The Rust libraries behind samebit's text module: tokenizers and chat templates, behind the C ABI of samebit_text.h.

mod allocation_budget;
mod byte_level;
mod c_abi;
mod civil_time;
mod deep_stack;
mod failure;
mod gguf;
mod hugging_face;
mod python_json;
mod sentence_piece;
mod tag_length;
mod template;
mod token_table;
mod tokenizer;
