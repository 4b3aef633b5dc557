/* The C boundary of the Rust crate. Only src/text includes it.
 *
 * Strings are (pointer, bytes), never NUL terminated. What a function returns in an `owned` string or id list is freed
 * with the free function named there. Every call catches panics and reports them as SAMEBIT_TEXT_INTERNAL. Objects are
 * immutable after they are made and may be used from any thread. */
#ifndef SAMEBIT_TEXT_H_
#define SAMEBIT_TEXT_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  SAMEBIT_TEXT_OK = 0,
  SAMEBIT_TEXT_MALFORMED = 1,
  SAMEBIT_TEXT_UNSUPPORTED = 2,
  SAMEBIT_TEXT_TOO_LARGE = 3,
  SAMEBIT_TEXT_INVALID_ARGUMENT = 4,
  SAMEBIT_TEXT_INTERNAL = 5,
  SAMEBIT_TEXT_CAPACITY = 6
} SamebitTextCode;

/* Borrowed bytes. data may be null when size is 0. */
typedef struct {
  const char* data;
  size_t size;
} SamebitSlice;

/* Owned by Rust; give it back with samebit_text_free_string. */
typedef struct {
  char* data;
  size_t size;
  size_t capacity;
} SamebitString;

/* Owned by Rust; give it back with samebit_text_free_ids. */
typedef struct {
  uint32_t* data;
  size_t size;
  size_t capacity;
} SamebitIds;

void samebit_text_free_string(SamebitString string);
void samebit_text_free_ids(SamebitIds ids);

typedef struct SamebitTokenizer SamebitTokenizer;

/* tokenizer.ggml.* as read from a GGUF file. scores and kinds are null or have piece_count entries. */
typedef struct {
  SamebitSlice model;
  SamebitSlice pre;
  const SamebitSlice* pieces;
  size_t piece_count;
  const float* scores;
  const int32_t* kinds;
  const SamebitSlice* merges;
  size_t merge_count;
  uint32_t add_space_prefix;
  int64_t unknown_id; /* -1: none */
  uint32_t vocabulary;
  uint64_t piece_work_max; /* sum of squared piece lengths: the work of deriving merges */
  uint64_t merge_count_max;
} SamebitGgufVocabulary;

SamebitTextCode samebit_tokenizer_from_gguf(const SamebitGgufVocabulary* vocabulary, SamebitTokenizer** made,
                                            SamebitString* message);
SamebitTextCode samebit_tokenizer_from_json(SamebitSlice json, uint32_t vocabulary, SamebitTokenizer** made,
                                            SamebitString* message);
void samebit_tokenizer_free(SamebitTokenizer* tokenizer);

/* specials_as_text: 0 parses special tokens in the text, 1 spells them out. */
SamebitTextCode samebit_tokenizer_encode(const SamebitTokenizer* tokenizer, SamebitSlice text,
                                         uint32_t specials_as_text, SamebitIds* ids, SamebitString* message);

/* Per id: entry i of a text column is [ends[i - 1], ends[i]), with ends[-1] = 0. Lives as long as the tokenizer. */
typedef struct {
  const char* pieces;
  const uint32_t* piece_ends;
  const char* bytes;
  const uint32_t* byte_ends;
  const uint8_t* control; /* 1: a control token */
  uint32_t count;
} SamebitTokenTable;

SamebitTokenTable samebit_tokenizer_table(const SamebitTokenizer* tokenizer);

typedef struct SamebitTemplate SamebitTemplate;

typedef struct {
  SamebitSlice role;
  SamebitSlice content;
  SamebitSlice extra_json; /* more members, one object, or empty */
} SamebitMessage;

typedef struct {
  const SamebitMessage* messages;
  size_t message_count;
  uint32_t add_generation_prompt;
  SamebitSlice bos_token;
  SamebitSlice eos_token;
  SamebitSlice extra_json; /* one object, or empty */
  uint32_t has_now;
  int64_t now_unix_seconds;
  uint64_t fuel;
  uint64_t output_bytes_max;
  uint64_t memory_bytes_max;
  uint64_t allocations_max;
  uint64_t seconds_max;
} SamebitRender;

SamebitTextCode samebit_template_make(SamebitSlice source, SamebitTemplate** made, SamebitString* message);
SamebitTextCode samebit_template_render(const SamebitTemplate* chat_template, const SamebitRender* request,
                                        SamebitString* output, SamebitString* message);
void samebit_template_free(SamebitTemplate* chat_template);

/* A text of a prompt template: strict, and it sees the variables alone. */
typedef struct {
  SamebitSlice name;
  uint32_t kind; /* 0 text, 1 whole, 2 number, 3 boolean (in whole) */
  SamebitSlice text;
  int64_t whole;
  double number;
} SamebitVariable;

SamebitTextCode samebit_prompt_make(SamebitSlice source, SamebitTemplate** made, SamebitString* message);
/* The names that the text asks for, functions among them: sorted, a line each. */
SamebitTextCode samebit_prompt_names(const SamebitTemplate* prompt, SamebitString* names, SamebitString* message);
/* bounds: only fuel and the maxima are looked at. */
SamebitTextCode samebit_prompt_render(const SamebitTemplate* prompt, const SamebitVariable* variables,
                                      size_t variable_count, const SamebitRender* bounds, SamebitString* output,
                                      SamebitString* message);

#ifdef __cplusplus
}
#endif

#endif /* SAMEBIT_TEXT_H_ */
