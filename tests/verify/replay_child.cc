// The other process of the replay tests: a job on standard input, the answer on standard output, as `samebit` does it.
#include <cstdio>
#include <iostream>
#include <iterator>

#include "verify/child.h"
#include "world/machine.h"

int main() {
  const std::string job(std::istreambuf_iterator<char>(std::cin), {});
  const auto answer = samebit::verify::ServeChildJob(job, samebit::world::ProcessId(), samebit::verify::PackAlways);
  if (!answer.ok()) {
    std::fprintf(stderr, "%s\n", answer.error().message.c_str());
    return 2;
  }
  std::fwrite(answer->data(), 1, answer->size(), stdout);
  return 0;
}
