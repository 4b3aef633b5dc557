import assert from 'node:assert/strict';
import test from 'node:test';

import { EventReader } from '../src/events';

const STREAM = 'data: {"text":"héllo 😀"}\n\ndata: {"n":1}\n\ndata: [DONE]\n\n';
const EVENTS = ['{"text":"héllo 😀"}', '{"n":1}', '[DONE]'];

test('events are the same wherever the bytes are cut', () => {
  const bytes = new TextEncoder().encode(STREAM);
  for (let first = 0; first <= bytes.length; ++first) {
    for (let second = first; second <= bytes.length; second += 7) {
      const reader = new EventReader();
      const parts = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
      assert.deepEqual(parts.flatMap((part) => reader.push(part)), EVENTS);
      assert.ok(reader.isEmpty);
    }
  }
});

test('an event without its end is not given out', () => {
  const reader = new EventReader();
  assert.deepEqual(reader.push(new TextEncoder().encode('data: {"n":1}\n')), []);
  assert.ok(!reader.isEmpty);
});

test('comments are left out', () => {
  assert.deepEqual(new EventReader().push(new TextEncoder().encode(': wait\n\ndata: 1\n\n')), ['1']);
});
