// Reading answers of the server without trusting their shape.

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

export function field(value: Json | undefined, name: string): Json | undefined {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value[name] : undefined;
}

export function list(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

export function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

export function number(value: Json | undefined): number | null {
  return typeof value === 'number' ? value : null;
}

export function numbers(value: Json | undefined): number[] {
  return list(value).filter((one): one is number => typeof one === 'number');
}
