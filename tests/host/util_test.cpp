#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "core/util/flatten.h"
#include "core/util/nearest.h"
#include "core/util/one_line.h"
#include "core/util/outbox.h"
#include "core/util/plain_json.h"
#include "core/util/plain_text.h"
#include "core/util/rate_text.h"
#include "core/util/sha256.h"
#include "core/util/shell_word.h"
#include "core/util/whole_number.h"
#include "tests/support/catch.h"
#include "tests/support/process.h"

using namespace ablate;

TEST_CASE("rates are exact fractions") {
  CHECK(parse_rate("1/8") == Rate{1, 8});
  CHECK(parse_rate("2/16") == Rate{1, 8});
  CHECK(parse_rate("0.125") == Rate{1, 8});
  CHECK(parse_rate("0.3") == Rate{3, 10});
  CHECK(rate_from(1.0 / 3) == Rate{1, 3});
  CHECK(parse_rate("1") == Rate{1, 1});
  for (const char* wrong : {"", "0", "1/0", "0/3", "-1/2", "3/2", "1.5", "a", "1/2x", "1/", "nan", "1e400"})
    CHECK_FALSE(parse_rate(wrong).has_value());
  CHECK(to_text(Rate{1, 8}) == "1/8");
  CHECK(to_text(Rate{1, 1}) == "1");
}

TEST_CASE("the number of slots is ceil(rate n), and each token's slot is one of them") {
  for (const Rate rate : {Rate{1, 1}, Rate{1, 2}, Rate{1, 3}, Rate{2, 5}, Rate{3, 10}, Rate{7, 8}, Rate{1, 64}})
    for (std::int64_t n = 1; n < 300; ++n) {
      const auto slots = rate.slots(n);
      CHECK((slots - 1) * rate.denominator < n * rate.numerator);
      CHECK(n * rate.numerator <= slots * rate.denominator);
      CHECK(rate.slot_of(n - 1) < slots);
    }
}

TEST_CASE("each value of a trial has one path, in nested sections and in lists too") {
  const auto flat = flatten(
      {{"attention", {{"plugin", "mixed"}, {"parts", {{{"plugin", "a"}, {"rates", {"1/2", "1/4"}}}, {{"plugin", "b"}}}}}},
       {"seed", 1}});
  CHECK(flat == std::map<std::string, nlohmann::json>{{"attention", "mixed"},
                                                      {"attention.parts.0", "a"},
                                                      {"attention.parts.0.rates", "1/2,1/4"},
                                                      {"attention.parts.1", "b"},
                                                      {"seed", 1}});
}

TEST_CASE("the nearest name is a name that was probably meant") {
  const std::vector<std::string> names{"adamra", "linear", "softmax", "attention.rates"};
  CHECK(nearest("adarma", names) == "adamra");
  CHECK(nearest("lineer", names) == "linear");
  CHECK(nearest("rates", names) == "attention.rates");
  CHECK(nearest("quantum", names) == "");
  const std::vector<std::string> words{"copy", "lm", "task", "sort", "mad"};
  for (const auto* far : {"nope", "la", "ml", "sirt-x", "text"}) CHECK(nearest(far, words) == "");
  CHECK(nearest("cpoy", words) == "copy");
  CHECK(nearest("taks", words) == "task");
  CHECK(nearest("mda", words) == "mad");
  CHECK(nearest("llm", words) == "lm");
  const std::vector<std::string> commands{"run", "x"};
  for (const auto* far : {"", "y", "z"}) CHECK(nearest(far, commands) == "");
  CHECK(hint("sofmax", names) == " (did you mean softmax?)");
  CHECK(hint(names[0] + "," + names[1], names) == " (write them apart: " + names[0] + " " + names[1] + ")");
  CHECK(hint(names[0] + ",", names).find("apart") == std::string::npos);
  CHECK(hint("quantum", names) == " (known: adamra, linear, softmax, attention.rates)");
}

TEST_CASE("all functions agree on the set of control characters") {
  for (const std::string control : {"\x1b", "\r", "\n", "\x7f", "\xc2\x80", "\xc2\x9b", "\xc2\x9f"}) {
    CHECK(control_at(control) == control.size());
    CHECK(line_refusal("a" + control) == "holds a control character, but must be one line");
    CHECK(one_line("a" + control + control + "b") == "a b");
    const auto json = plain_json(nlohmann::json("a" + control));
    CHECK(nlohmann::json::parse(json) == "a" + control);
    for (const char c : json) CHECK((c >= ' ' && c <= '~'));
  }
  for (const std::string plain : {"", " ", "~", "\xc2", "\xc2\xa0", "\xe2\x82\xac", "x\x1b"}) CHECK(control_at(plain) == 0);
  CHECK(one_line("\xc2\xa0\xe2\x82\xac") == "\xc2\xa0\xe2\x82\xac");
}

TEST_CASE("invisible characters are shown by their number, and characters of scripts stay") {
  const std::pair<std::string, std::string> invisible[] = {
      {"\xd8\x9c", "<U+061C>"},     {"\xe2\x80\x8b", "<U+200B>"}, {"\xe2\x80\x8e", "<U+200E>"},
      {"\xe2\x80\x8f", "<U+200F>"}, {"\xe2\x80\xa8", "<U+2028>"}, {"\xe2\x80\xaa", "<U+202A>"},
      {"\xe2\x80\xae", "<U+202E>"}, {"\xe2\x81\xa6", "<U+2066>"}, {"\xe2\x81\xa9", "<U+2069>"},
      {"\xef\xbb\xbf", "<U+FEFF>"}, {"\xc2\xad", "<U+00AD>"},     {"\xf3\xa0\x81\x81", "<U+E0041>"}};
  for (const auto& [character, shown] : invisible) {
    INFO(shown);
    CHECK(invisible_at(character + "x") == character.size());
    CHECK(with_invisible_shown("a" + character + "b") == "a" + shown + "b");
    CHECK(one_line("a" + character + "b") == "a" + shown + "b");
    CHECK(shell_word("a'" + character + "\\").starts_with("$'a\\'\\"));
  }
  for (const std::string seen : {"", "a", "\xc3\xa9", "\xd8\xa7", "\xe2\x80\xa6", "\xe2\x80", "\xf0\x9f\x98\x80", "\x80\xae"}) {
    CHECK(invisible_at(seen) == 0);
    CHECK(with_invisible_shown(seen) == seen);
  }
}

TEST_CASE("a quoted shell word is read back as the same text, whatever it contains") {
  for (const std::string text : {"a", "", "a b", "it's", "a\xe2\x80\xae'\\b", "a\nb\x1b[31m", "\xc2\x9b 1", "caf\xc3\xa9"}) {
    const auto word = shell_word(text);
    INFO(word);
    for (std::size_t i = 0; i < word.size(); ++i) CHECK(control_at(word.substr(i)) + invisible_at(word.substr(i)) == 0);
    const auto back = Process({"bash", "-c", "printf %s " + word}).wait();
    CHECK(back.out == text);
  }
}

TEST_CASE("an outbox writes all its bytes to a pipe in order, however few the pipe accepts at once") {
  int ends[2];
  REQUIRE(pipe2(ends, O_NONBLOCK) == 0);
  Outbox outbox;
  std::string all, read;
  const auto take = [&](std::size_t most) {
    std::string piece(most, '\0');
    if (const auto n = ::read(ends[0], piece.data(), most); n > 0) read.append(piece, 0, static_cast<std::size_t>(n));
  };
  for (int i = 0; i < 3000; ++i) {
    const auto text = std::to_string(i) + std::string(static_cast<std::size_t>(i % 97), 'x');
    all += text;
    outbox.add(text);
    CHECK(outbox.flush(ends[1]));
    if (i % 5 == 0) take(50);
  }
  CHECK(outbox.size() > 50'000);  // a pipe holds 64 KiB
  for (int i = 0; i < 300 && read.size() < all.size(); ++i) take(1000), outbox.flush(ends[1]);
  CHECK(outbox.empty());
  CHECK(read == all);
  outbox.add("more");
  close(ends[0]);
  std::signal(SIGPIPE, SIG_IGN);
  CHECK_FALSE(outbox.flush(ends[1]));
  CHECK(outbox.empty());
  close(ends[1]);
}

TEST_CASE("SHA-256 digests of known texts are correct") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("a whole number has only decimal digits") {
  CHECK(whole_number_of("0") == 0);
  CHECK(whole_number_of("0012") == 12);
  CHECK(whole_number_of("2147483647") == 2147483647);
  for (const char* wrong : {"", "-", "-0", "-1", "+1", " 1", "1 ", "1.0", "1e3", "0x1", "2147483648"}) {
    INFO(wrong);
    CHECK_FALSE(whole_number_of(wrong).has_value());
  }
}
