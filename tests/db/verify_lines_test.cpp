// `ablate verify`: lines of a table that ablate did not write.
#include <algorithm>

#include "tests/db/papers.h"

using namespace ablate;
using namespace ablate::db;

TEST_CASE("an added line in a table is reported; rules and comments may be the author's") {
  Papers run;
  struct Added {
    std::string format, last, end, top;
    std::vector<std::string> rows, no_rows;
  };
  const std::vector<Added> all = {
      {"latex",
       "  \\bottomrule",
       "\\end{tabular}\n",
       "  \\toprule\n",
       {"  Ours & 99.9 \\\\", "\\midrule Ours & 99.9 \\\\[2pt] % ablate: x", "  Ours\n  & 99.9", "Ours 99 \\tabularnewline",
        "\\multicolumn{2}{l}{99.9 \\%} \\\\", "\\noalign{Ours: 99.9}", "\\hlinex", "\\midrule\\gdef\\pm{+99.9}", "\\input{x}"},
       {"  \\midrule", "  \\cmidrule(lr){1-2}", "\\addlinespace[2pt]", "\\hline\\hline % a rule", "  % Ours & 99.9 \\\\", ""}},
      {"typst",
       "  table.hline(),\n)",
       "\n)\n",
       "  table.hline(),\n",
       {"  [Ours], [99.9],", "table.hline(), [Ours], [99.9],", "  \"Ours\", $99.9$,", "table.cell(colspan: 2)[99.9],",
        "  stroke: \"x\",", "..rows,", "/*", "table.hline(stroke: {x}),"},
       {"  table.hline(),", "table.hline(stroke: 0.5pt, end: 2),", "  // [Ours], [99.9],", ""}},
      {"html",
       "  </tbody>",
       "</table>\n",
       "  <thead>\n",
       {"<tr><td>Ours</td><td>99.9</td></tr>", "<TR class=\"x\">", "  <td>99.9", "<tr", "Ours 99.9", "<style>td{}</style>",
        "<!--> <tr><td>99.9</td></tr> <!-- -->", "<tbody style=\"x\">"},
       {"</tbody><tbody>", "<!-- of the author -->", ""}}};
  for (const auto& [format, last, end, top, rows, no_rows] : all) {
    INFO(format);
    const auto text = run("table study --rows attention --metric test/accuracy --format " + format);
    const auto with = [&](const std::string& line) {
      const auto middle = text.rfind('\n', text.find("linear")) + 1;
      return std::vector{text.substr(0, middle) + line + "\n" + text.substr(middle), replaced(text, last, line + "\n" + last),
                         replaced(text, top, top + line + "\n")};
    };
    for (const auto& row : rows)
      for (const auto& paper : with(row)) {
        run.write(paper);
        const auto output = run.verify();
        INFO(row << "\n" << output);
        CHECK(run.exit_code == 1);
        CHECK(has(output, ", a line that ablate did not write, in a table of ablate\n"));
        CHECK(std::count(output.begin(), output.end(), '\n') == 1 + std::count(row.begin(), row.end(), '\n'));
      }
    for (const auto& line : no_rows)
      for (const auto& paper : with(line)) {
        run.write(paper);
        const auto output = run.verify();
        INFO(line << "\n" << output);
        CHECK(run.exit_code == 0);
      }
    run.write(rows[0] + "\n" + replaced(text, end, end + "\n" + rows[0] + "\n") + rows[0] + "\n");
    const auto output = run.verify();
    INFO(output);
    CHECK(run.exit_code == 0);
  }
}

TEST_CASE("forged lines inside a table are reported in every format") {
  Papers run;
  struct Edit {
    std::string from, to;
  };
  const std::string forged = "\\begin{tabular}{lr}\n  \\toprule\n  ours & 99.9 \\\\\n\\end{tabular}\n";
  const std::vector<std::pair<std::string, std::vector<Edit>>> all = {
      {"latex",
       {{"\\toprule", "\\toprule ours & 99.9 $\\pm$ 0.1 \\\\"},
        {"\\toprule", "\\toprule\\gdef\\pm{+99.9}"},
        {"{tabular}{lr}", "{tabular}{lr@{9}}"},
        {"{tabular}{lr}", "{tabular}{l>{\\setbox0\\hbox\\bgroup}r<{\\egroup}}"},
        {"{tabular}{lr}", "{tabular}{lr} ours & 99.9 \\\\"},
        {"\\begin{tabular}", forged + "\\begin{tabular}"},
        {"\\begin{tabular}", "\\begin{tabularx}"},
        {"  \\midrule\n", "  % a comment\r  ours & 99.9 \\\\\n"},
        {"\\end{tabular}", "ours & 99.9 \\\\ \\end{tabular}"},
        {"softmax & ", "softmax & \\def\\x{9}"}}},
      {"typst",
       {{"  columns: 2", "  [ours], [99.9],\n  columns: 2"},
        {"  columns: 2", "  [ours], [99.9], columns: 2"},
        {"right, ),\n", "right, ), [ours], [99.9],\n"},
        {"right, ),\n", "right, ),\n  [ours], [99.9],\n"},
        {"  columns: 2", "  columns: 1"},
        {"  [softmax]", "  [ours], [99.9], [softmax]"},
        {"  [softmax]", "  ..hidden, [softmax]"},
        {"  [softmax]", "  // a comment\xE2\x80\xA8[ours], [99.9],\n  [softmax]"},
        {"#table(\n", "#table( [ours], [99.9],\n"},
        {"#table(\n", "#table(\n  fill: white,\n"}}},
      {"html",
       {{"<thead>", "<tr><td>ours</td><td>99.9</td></tr><thead>"},
        {"<thead>", "<thead><tr><td>ours</td><td>99.9</td></tr>"},
        {"<thead>\n", "<thead>\n    <tr><td>ours</td><td>99.9</td></tr>\n"},
        {"<td>softmax", "<td style=\"display:none\">softmax"},
        {"<td>softmax", "<td>ours</td><td style=\"display:none\">softmax"},
        {"    <tr data-ablate=\"trials\">", "<tr><td>Ours</td><td>99.9</td></tr><tr data-ablate=\"trials\">"},
        {"<table class", "<table style=\"display:none\" class"},
        {"</caption>", "</caption><tr><td>ours</td><td>99.9</td></tr>"},
        {"<caption>", "<caption><b>ours: 99.9</b>"},
        {"</tr>\n  </tbody>", "</tr><tr><td>99.9</td></tr>\n  </tbody>"},
        {"  </thead>\n", ""}}}};
  for (const auto& [format, edits] : all) {
    const auto text = run("table study --rows attention --metric test/accuracy --format " + format);
    for (const auto& [from, to] : edits) {
      run.write(replaced(text, from, to));
      const auto output = run.verify();
      INFO(format << ": " << from << " -> " << to << "\n" << output << text);
      CHECK(run.exit_code == 1);
      CHECK_FALSE(has(output, "agrees with the history"));
    }
    // Rows of one block may not move to another block, because the two blocks have different metrics.
    const auto blocks =
        run("table study --rows attention --cols seed --metric test/accuracy,train/step_time --format " + format);
    const auto from = blocks.rfind('\n', blocks.rfind("softmax")) + 1, to = blocks.find('\n', from) + 1;
    const auto moved = blocks.substr(0, from) + blocks.substr(to);
    const auto at = moved.rfind('\n', moved.find("softmax")) + 1;
    run.write(blocks);
    run.verify();
    CHECK(run.exit_code == 0);
    run.write(moved.substr(0, at) + blocks.substr(from, to - from) + moved.substr(at));
    const auto output = run.verify();
    INFO(format << output);
    CHECK(run.exit_code == 1);
  }
}
