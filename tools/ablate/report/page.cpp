#include "tools/ablate/report/page.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <zlib.h>

#include <map>
#include <vector>

#include "core/util/error.h"
#include "core/util/markup.h"
#include "tools/ablate/report/texts.h"

namespace ablate {
namespace {

std::string base64(const unsigned char* bytes, std::size_t size) {
  std::string text(4 * ((size + 2) / 3) + 1, '\0');  // OpenSSL ends it with a zero
  const int written = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes, static_cast<int>(size));
  text.resize(static_cast<std::size_t>(written));
  return text;
}

/// As DecompressionStream("deflate") takes it: RFC 1950, in base64.
std::string packed(const std::string& data) {
  constexpr std::size_t kMost = std::size_t{1} << 30;  // what base64 above counts in an int
  if (data.size() > kMost)
    throw Error(
        fmt::format("report: its data are {} MB, expected at most {}: name fewer experiments", data.size() >> 20, kMost >> 20));
  auto size = compressBound(data.size());
  std::vector<unsigned char> bytes(size);
  if (compress2(bytes.data(), &size, reinterpret_cast<const unsigned char*>(data.data()), data.size(), 6) != Z_OK)
    throw Error("report: its data cannot be deflated: memory is short");
  return base64(bytes.data(), size);
}

/// By which a content policy allows a script or a style.
std::string hash_source(std::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha256(), nullptr) != 1)
    throw Error("report: OpenSSL has no SHA-256, which the page's content policy is made of");
  return fmt::format("'sha256-{}'", base64(digest, size));
}

/// The text with the parts in the places that name them, @NAME@. A part is not looked through.
std::string filled(std::string_view text, const std::map<std::string, std::string, std::less<>>& parts) {
  std::string all;
  for (;;) {
    const auto from = text.find('@');
    const auto to = from == std::string_view::npos ? from : text.find('@', from + 1);
    if (to == std::string_view::npos) return all.append(text);
    const auto part = parts.find(text.substr(from + 1, to - from - 1));
    if (part == parts.end()) {
      all.append(text.substr(0, to));  // the second may begin a name
      text.remove_prefix(to);
      continue;
    }
    all.append(text.substr(0, from)).append(part->second);
    text.remove_prefix(to + 1);
  }
}

}  // namespace

PageTexts page_texts() { return {kPageHtml, kPageStyle, kPageScript, kD3, kD3Licence}; }

void expect_d3(const PageTexts& texts) {
  if (texts.d3.empty())
    throw Error(
        "report: this ablate was built without D3, which draws a report's figures: install Debian's package node-d3 and build "
        "again (tools/setup does both)");
}

std::string make_page(const PageTexts& texts, const std::string& title, const std::string& data) {
  const auto script = fmt::format("(() => {{\n\"use strict\";\n{}}})();", texts.script);
  const auto policy = fmt::format("default-src 'none'; script-src {} {}; style-src {}; base-uri 'none'; form-action 'none'",
                                  hash_source(texts.d3), hash_source(script), hash_source(texts.style));
  return filled(texts.html, {{"POLICY", policy},
                             {"TITLE", markup_escaped(title, "\"")},
                             {"STYLE", std::string(texts.style)},
                             {"LICENCE", markup_escaped(texts.licence, "\"")},
                             {"DATA", packed(data)},
                             {"D3", std::string(texts.d3)},
                             {"SCRIPT", script}});
}

}  // namespace ablate
