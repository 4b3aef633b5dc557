#!/usr/bin/env python3
"""Writes a GGUF model again with its matrices in another type, for benchmarks: the same shapes, the same metadata.

    make_formats.py models/smollm2-135m-instruct-q4_1.gguf --out formats --type F16 --type Q8_0 --type Q4_0

Needs the packages gguf and numpy. The weights are the rounded ones of the file, rounded again: good for speed, not for
judging quality. Like llama.cpp's own files, the embedding of a tied model is Q8_0 where the rest is Q4_0.
"""

import argparse
import os

import gguf
import numpy

TYPES = {
    "F16": gguf.GGMLQuantizationType.F16,
    "Q8_0": gguf.GGMLQuantizationType.Q8_0,
    "Q4_0": gguf.GGMLQuantizationType.Q4_0,
}
FILE_TYPES = {
    "F16": gguf.LlamaFileType.MOSTLY_F16,
    "Q8_0": gguf.LlamaFileType.MOSTLY_Q8_0,
    "Q4_0": gguf.LlamaFileType.MOSTLY_Q4_0,
}


def type_of(tensor, wanted):
    if tensor.tensor_type == gguf.GGMLQuantizationType.F32:
        return gguf.GGMLQuantizationType.F32
    if wanted == "Q4_0" and tensor.name == "token_embd.weight":
        return TYPES["Q8_0"]
    return TYPES[wanted]


def write(reader, path, wanted):
    architecture = reader.get_field("general.architecture").contents()
    writer = gguf.GGUFWriter(path, architecture)
    for name, field in reader.fields.items():
        if name.startswith("GGUF.") or name in ("general.architecture", "general.file_type"):
            continue
        kind = field.types[0]
        writer.add_key_value(name, field.contents(), kind, field.types[-1] if len(field.types) > 1 else None)
    writer.add_file_type(FILE_TYPES[wanted])
    for tensor in reader.tensors:
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(numpy.float32)
        kind = type_of(tensor, wanted)
        writer.add_tensor(tensor.name, gguf.quants.quantize(values, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--out", required=True, help="folder for the files")
    parser.add_argument("--type", action="append", required=True, choices=sorted(TYPES))
    flags = parser.parse_args()
    os.makedirs(flags.out, exist_ok=True)
    stem = os.path.basename(flags.model).removesuffix(".gguf").rsplit("-", 1)[0]
    for wanted in flags.type:
        path = os.path.join(flags.out, f"{stem}-{wanted.lower()}.gguf")
        write(gguf.GGUFReader(flags.model), path, wanted)
        print(path, f"{os.path.getsize(path) / 2**20:.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
