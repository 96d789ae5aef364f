#include "tools/identity/command.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/util/error.h"

namespace ablate::identity {
namespace {

namespace fs = std::filesystem;

bool begins(const std::string& word, std::initializer_list<const char*> with) {
  return std::any_of(with.begin(), with.end(), [&](const char* part) { return word.starts_with(part); });
}

/// What cannot change a number, or is counted elsewhere.
bool is_left_out(const std::string& option, bool is_cuda) {
  if (begins(option, {"-W"})) return !begins(option, {"-Wp,", "-Wa,", "-Wl,"});
  if (begins(option, {"-g", "-pedantic", "-fdiagnostics", "-fcolor", "-M", "-DABLATE_TORCH_VERSION=",
                      "-DABLATE_HAS_CUDA_SOURCES", "-fdebug-prefix-map=", "-ffile-prefix-map=", "-fmacro-prefix-map="}))
    return true;
  return is_cuda && begins(option, {"-O", "-DNDEBUG", "-std=", "-arch", "--generate-code", "-Xcompiler", "-forward-unknown"});
}

bool continues_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.'; }

std::string placed(std::string option, const Places& places) {
  for (const auto& [path, name] : places)
    for (auto at = option.find(path); at != std::string::npos; at = option.find(path, at + 1))
      if (at + path.size() == option.size() || !continues_name(option[at + path.size()])) option.replace(at, path.size(), name);
  return option;
}

/// With the words of @FILE and --options-file FILE in their place.
std::vector<std::string> with_files(const std::vector<std::string>& words, const fs::path& folder) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool named = words[i] == "--options-file" && i + 1 < words.size();
    if (!named && !words[i].starts_with('@')) {
      all.push_back(words[i]);
      continue;
    }
    std::ifstream stream(folder / (named ? words[++i] : words[i].substr(1)));
    for (auto& word : shell_words({std::istreambuf_iterator<char>(stream), {}})) all.push_back(std::move(word));
  }
  return all;
}

}  // namespace

std::vector<std::string> shell_words(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool is_open = false;
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool escapes =
        c == '\\' && quote != '\'' && i + 1 < line.size() &&
        (quote == '\0' || line[i + 1] == '"' || line[i + 1] == '\\' || line[i + 1] == '$' || line[i + 1] == '`');
    if (escapes) {
      word += line[++i], is_open = true;
    } else if (quote != '\0' ? c == quote : c == '"' || c == '\'') {
      quote = quote == '\0' ? c : '\0', is_open = true;
    } else if (quote == '\0' && (c == ' ' || c == '\n' || c == '\t')) {
      if (is_open) words.push_back(std::move(word));
      word.clear(), is_open = false;
    } else {
      word += c, is_open = true;
    }
  }
  if (is_open) words.push_back(std::move(word));
  return words;
}

Command read_command(const std::vector<std::string>& given, const fs::path& source, const fs::path& folder,
                     const Places& places, fs::path* object) {
  Command command{.source = folder / source, .folders = {}, .forced = {}, .options = {}};
  const bool is_cuda = source.extension() == ".cu";
  const auto words = with_files(given, folder);
  // Before its first option there are the compiler and what launches it.
  const auto first = std::find_if(words.begin(), words.end(), [](const auto& word) { return word.starts_with('-'); });
  for (auto at = first; at != words.end(); ++at) {
    const auto& word = *at;
    /// The value of an option, from the same word or from the next.
    const auto value = [&](const std::string& option) {
      if (word.size() > option.size()) return word.substr(option.size());
      return at + 1 == words.end() ? std::string() : *++at;
    };
    bool is_folder = false;
    for (const char* option : {"-isystem", "-iquote", "-idirafter", "-I"})
      if (!is_folder && word.starts_with(option)) {
        auto path = value(option);
        if (path.starts_with('=')) path.erase(0, 1);
        command.folders.push_back(folder / path);
        is_folder = true;
      }
    if (is_folder) continue;
    if (word == "-o") {
      const auto to = value("-o");
      if (object != nullptr) *object = fs::weakly_canonical(folder / to);
    } else if (word == "-include" || word == "-imacros") {
      command.forced.emplace_back(value(word));
      command.options.push_back(word);
    } else if (word == "-c" || word == "-MF" || word == "-MT" || word == "-MQ") {
      value(word);
    } else if (is_cuda && word == "-x") {
      value(word);
    } else if (!is_left_out(word, is_cuda)) {
      command.options.push_back(placed(word, places));
    }
  }
  return command;
}

std::map<fs::path, Command> read_commands(const fs::path& file, const Places& places) {
  std::map<fs::path, Command> commands;
  std::ifstream stream(file);
  if (!stream) return commands;
  try {
    for (const auto& entry : nlohmann::json::parse(stream)) {
      fs::path object;
      const auto words = entry.contains("arguments") ? entry["arguments"].get<std::vector<std::string>>()
                                                     : shell_words(entry.at("command").get<std::string>());
      auto command =
          read_command(words, entry.at("file").get<std::string>(), entry.at("directory").get<std::string>(), places, &object);
      if (!object.empty()) commands.emplace(std::move(object), std::move(command));
    }
  } catch (const nlohmann::json::exception& error) {
    throw Error(file.string() + ": " + error.what());
  }
  return commands;
}

}  // namespace ablate::identity
