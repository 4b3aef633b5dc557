import assert from 'node:assert/strict';
import test from 'node:test';

import { closenessOf, TokenReader, visible } from '../src/tokens';

const entry = (bytes: number[], token: string) => ({
  token,
  logprob: -0.5,
  logit_margin: 0.25,
  bytes,
  top_logprobs: [{ token, logprob: -0.5, bytes }],
});
const choice = (id: number, bytes: number[], token: string) => ({
  token_ids: [id],
  logprobs: { content: [entry(bytes, token)] },
});

test('a character of several tokens is shown once, with its last part', () => {
  const reader = new TokenReader();
  const tokens = [
    ...reader.read(choice(7, [0xf0, 0x9f], '\ufffd')),
    ...reader.read(choice(8, [0x98, 0x80], '\ufffd')),
    ...reader.read(choice(9, [0x21], '!')),
  ];
  assert.deepEqual(tokens.map((token) => token.shown), ['', '😀', '!']);
  assert.deepEqual(tokens.map((token) => token.id), [7, 8, 9]);
});

test('a control token is known by having no bytes', () => {
  assert.deepEqual(new TokenReader().read(choice(2, [], '<|im_end|>')).map((t) => t.isControl), [true]);
});

test('a chunk that lacks everything gives no tokens', () => {
  for (const nothing of [undefined, null, {}, [], 'x', { logprobs: null }, { logprobs: { content: 5 } }]) {
    assert.deepEqual(new TokenReader().read(nothing), []);
  }
});

test('margins fall into four classes', () => {
  const classes = [0, 0.0999, 0.1, 0.49, 0.5, 1.99, 2, 30, null].map(closenessOf);
  assert.deepEqual(classes, ['coin-toss', 'coin-toss', 'close', 'close', 'likely', 'likely', 'clear', 'clear', 'clear']);
});

test('spaces and line ends can be seen', () => assert.equal(visible(' a\n'), '␣a⏎'));
