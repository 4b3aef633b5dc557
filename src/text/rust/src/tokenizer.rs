//! One tokenizer, however it was built: text to ids, and the table of what each id stands for.

use tokenizers::{AddedVocabulary, Model, OffsetType, PreTokenizer};

use crate::failure::{fail, malformed, shown, Code, Failure, Outcome};
use crate::token_table::TokenTable;

pub struct Tokenizer {
    inner: tokenizers::Tokenizer,
    /// The same added tokens, but special ones are not looked for in the text.
    specials_as_text: AddedVocabulary,
    pub table: TokenTable,
}

impl Tokenizer {
    pub fn new(library: tokenizers::Tokenizer, table: TokenTable) -> Self {
        let mut specials_as_text = library.get_added_vocabulary().clone();
        specials_as_text.set_encode_special_tokens(true);
        Tokenizer { inner: library, specials_as_text, table }
    }

    pub fn encode(&self, text: &[u8], as_text: bool) -> Outcome<Vec<u32>> {
        let text = std::str::from_utf8(text)
            .map_err(|e| malformed(format!("the text is not UTF-8: invalid at byte {}", e.valid_up_to())))?;
        let ids = self.run(text, as_text).map_err(|e| Failure {
            code: Code::Malformed,
            message: format!("the text cannot be tokenized: {e}"),
        })?;
        for &id in &ids {
            if id as usize >= self.table.control.len() {
                let piece = self.inner.id_to_token(id).unwrap_or_default();
                return fail(
                    Code::Unsupported,
                    format!("the text holds token {id} \"{}\", for which the model has no embedding", shown(&piece)),
                );
            }
        }
        Ok(ids)
    }

    /// The library's own steps, without truncation, padding or added bos and eos.
    fn run(&self, text: &str, as_text: bool) -> tokenizers::Result<Vec<u32>> {
        let added = if as_text { &self.specials_as_text } else { self.inner.get_added_vocabulary() };
        let mut pieces = added.extract_and_normalize(self.inner.get_normalizer(), text);
        if let Some(pre_tokenizer) = self.inner.get_pre_tokenizer() {
            pre_tokenizer.pre_tokenize(&mut pieces)?;
        }
        let model = self.inner.get_model();
        pieces.tokenize(|piece| model.tokenize(piece.get()))?;
        Ok(pieces.into_encoding(None, 0, OffsetType::None)?.get_ids().to_vec())
    }
}
