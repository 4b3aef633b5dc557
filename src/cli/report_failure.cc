#include "cli/report_failure.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/json_writer.h"
#include "cli/exit_code.h"
#include "cli/terminal.h"
#include "world/log.h"

namespace samebit::cli {

int ReportFailure(const Error& error, const std::vector<std::string>& arguments) {
  world::StderrLog().Write(world::LogLevel::kError, error.message);
  // Only `run`, `doctor` and `serve --check-config` print JSON; elsewhere --json names a file, and a failed command writes
  // no file.
  static constexpr std::string_view kPrinters[] = {"run", "doctor", "serve"};
  const bool prints_json =
      !arguments.empty() && std::find(std::begin(kPrinters), std::end(kPrinters), arguments.front()) != std::end(kPrinters);
  if (prints_json && std::find(arguments.begin(), arguments.end(), "--json") != arguments.end()) {
    JsonWriter json;
    json.BeginObject().Key("error").BeginObject();
    json.Key("code").Text(ErrorCodeName(error.code)).Key("message").Text(error.message);
    json.EndObject().EndObject();
    WriteOut(json.Finish() + "\n");
  }
  return static_cast<int>(ExitCodeOf(error.code));
}

}  // namespace samebit::cli
