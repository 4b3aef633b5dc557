// The writers, on a report with every verdict and with hostile names in it.
#include <sstream>

#include <gtest/gtest.h>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>

#include "base/json_reader.h"
#include "verify/report_writers.h"
#include "verify/test_answers.h"

namespace samebit::verify {
namespace {

constexpr const char* kHostile = "</title><script>alert('x')</script> & \"quotes\" \x1b[31m ]]> \xff";

CellReport MadeUpCell(Axis axis, const std::string& value, Verdict verdict) {
  CellReport cell;
  cell.axis = axis;
  cell.value = value;
  cell.description = "made up";
  cell.verdict = verdict;
  cell.evidence = "8 to 64 sequences in a pass, and more words than fit in one line of the table";
  cell.differs = {"concurrency"};
  cell.seconds = 1.5;
  SampleReport sample;
  sample.prompt_id = kHostile;
  sample.tokens_asked = sample.tokens_base = sample.tokens_found = 16;
  sample.tokens_equal = sample.logprobs_equal = sample.logits_equal = true;
  cell.samples = {sample, sample};
  if (verdict == Verdict::kDivergent) {
    SampleReport& other = cell.samples[1];
    other.tokens_equal = other.logprobs_equal = other.logits_equal = false;
    other.first_token_divergence = 7;
    other.first_bit_divergence = 3;
    other.margin_base = 0.1f;
    other.margin_found = 0.25f;
    other.top_shared_at = 5;
    cell.drift = Drift::kBatchAndSchedule;
    cell.drift_reason = "of what was changed, only concurrency is left";
  }
  if (verdict == Verdict::kNotMeasured) cell.not_measured_reason = "no cached token was hit <here>";
  return cell;
}

ReplayReport MadeUpReport() {
  ReplayReport report;
  report.plan = "quick";
  report.model_path = kHostile;
  report.model_name = kHostile;
  report.model_files = {{"m.gguf", 123, Sha256::Of("m")}};
  report.prompt_set = "built-in";
  report.seed = UINT64_MAX;
  report.machine = "a machine";
  report.started_utc = "2026-01-01T00:00:00Z";
  report.seconds = 12.25;
  BaseReport base;
  base.prompt_id = "p";
  base.token_ids = {1, 2, 3};
  base.margins = {0.1f, 3.5f, 0.0f};
  report.bases = {base};
  report.cells = {MadeUpCell(Axis::kConcurrency, "1", Verdict::kExact),
                  MadeUpCell(Axis::kConcurrency, "8", Verdict::kDivergent),
                  MadeUpCell(Axis::kPrefixCache, "warm", Verdict::kNotMeasured)};
  return report;
}

ReplayReport Only(Verdict verdict, bool control = false) {
  ReplayReport report = MadeUpReport();
  report.control = control;
  report.cells = {MadeUpCell(Axis::kConcurrency, "8", verdict)};
  return report;
}

TEST(Report, exit_codes_are_those_of_the_contract) {
  EXPECT_EQ(ExitCode(Only(Verdict::kExact)), 0);
  EXPECT_EQ(ExitCode(Only(Verdict::kDivergent)), 1);
  EXPECT_EQ(ExitCode(Only(Verdict::kNotMeasured)), 3);
  EXPECT_EQ(ExitCode(MadeUpReport()), 1) << "a difference outweighs what was not measured";
  ReplayReport nothing = MadeUpReport();
  nothing.cells.clear();
  EXPECT_EQ(ExitCode(nothing), 3) << "a check that measured nothing never exits 0";
}

TEST(Report, the_control_must_be_caught) {
  EXPECT_EQ(ExitCode(Only(Verdict::kDivergent, true)), 1);
  EXPECT_EQ(ExitCode(Only(Verdict::kExact, true)), 3);
  EXPECT_NE(VerdictSentence(Only(Verdict::kDivergent, true)).find("CAUGHT"), std::string::npos);
  EXPECT_NE(VerdictSentence(Only(Verdict::kDivergent, true)).find("concurrency"), std::string::npos);
  EXPECT_NE(VerdictSentence(Only(Verdict::kExact, true)).find("FAILED TO CATCH"), std::string::npos);
}

TEST(Report, the_table_is_at_most_100_columns_wide_and_steers_no_terminal) {
  const std::string table = ReportTable(MadeUpReport(), Colours::kNever);
  std::istringstream lines(table.substr(table.find("axis")));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_EQ(table.find('\x1b'), std::string::npos);
  EXPECT_NE(table.find("DIVERGENT"), std::string::npos);
  EXPECT_NE(table.find("not measured: no cached token was hit"), std::string::npos);
  EXPECT_NE(ReportTable(MadeUpReport(), Colours::kAnsi).find("\x1b[1;31m"), std::string::npos);
}

TEST(Report, the_json_is_read_back) {
  const auto value = ReadJson(ReportJson(MadeUpReport()), "report");
  ASSERT_TRUE(value.ok()) << value.error().message;
  const auto& report = value->get_object();
  EXPECT_EQ(report.at("schema").get_string(), "samebit.replay/1");
  EXPECT_EQ(report.at("seed").get_string(), "18446744073709551615");
  EXPECT_EQ(report.at("exit_code").get_int64(), 1);
  ASSERT_EQ(report.at("cells").get_array().size(), 3u);
  const auto& cell = report.at("cells").get_array()[1].get_object();
  EXPECT_EQ(cell.at("axis").get_string(), "concurrency");
  EXPECT_EQ(cell.at("verdict").get_string(), "divergent");
  EXPECT_EQ(cell.at("drift").get_string(), "batch_and_schedule");
  EXPECT_EQ(cell.at("first_divergence").get_int64(), 7);
  EXPECT_EQ(cell.at("samples_exact").get_int64(), 1);
  const auto& sample = cell.at("samples").get_array()[1].get_object();
  EXPECT_EQ(static_cast<float>(sample.at("margin_found").get_double()), 0.25f);
  EXPECT_TRUE(sample.at("top5_shared_before_divergence").is_null());
  EXPECT_EQ(report.at("base_answers").get_array()[0].get_object().at("margins").get_array().size(), 3u);
}

TEST(Report, the_junit_is_well_formed_and_says_which_cells_failed) {
  std::istringstream text(ReportJUnit(MadeUpReport()));
  boost::property_tree::ptree tree;
  ASSERT_NO_THROW(boost::property_tree::read_xml(text, tree));
  const auto& suite = tree.get_child("testsuites.testsuite");
  EXPECT_EQ(suite.get<int>("<xmlattr>.tests"), 3);
  EXPECT_EQ(suite.get<int>("<xmlattr>.failures"), 1);
  EXPECT_EQ(suite.get<int>("<xmlattr>.errors"), 1);
  int cases = 0, failures = 0, errors = 0;
  for (const auto& [name, child] : suite) {
    if (name != "testcase") continue;
    ++cases;
    failures += static_cast<int>(child.count("failure"));
    errors += static_cast<int>(child.count("error"));
  }
  EXPECT_EQ(cases, 3);
  EXPECT_EQ(failures, 1);
  EXPECT_EQ(errors, 1);
}

TEST(Report, the_page_needs_nothing_from_elsewhere_and_runs_nothing) {
  const std::string page = ReportHtml(MadeUpReport());
  for (const char* outside : {"http:", "https:", "src=", "@import", "url(", "<script", "<iframe", "javascript:"})
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  EXPECT_NE(page.find("&lt;script&gt;"), std::string::npos);
  EXPECT_EQ(page.find('\x1b'), std::string::npos);
  for (const char* part : {"Heat map", "Where answers part", "Margins", "not measured", "batch_and_schedule"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
}

TEST(Report, an_empty_report_is_written_without_harm) {
  const ReplayReport empty;
  EXPECT_NE(ReportHtml(empty).find("NOT MEASURED"), std::string::npos);
  EXPECT_TRUE(ReadJson(ReportJson(empty), "report").ok());
  EXPECT_FALSE(ReportTable(empty, Colours::kNever).empty());
  EXPECT_FALSE(ReportJUnit(empty).empty());
}

}  // namespace
}  // namespace samebit::verify
