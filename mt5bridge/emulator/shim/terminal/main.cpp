// The emulated terminal's command line:
//   terminal --script FILE --data FOLDER   a session, as the script says; with --commands NUMBER
//                                          also as `at` lines from this descriptor say
//   terminal [--data FOLDER]               every script that is built in, one after the other
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>

#include "language/files_faults.hpp"
#include "runtime.hpp"

namespace {

constexpr int EXIT_CODE_UNUSABLE = 2;

struct Options {
  std::string script, data;
  int commands = -1;
};

Options options_of(int count, char** arguments) {
  Options options;
  for (int at = 1; at + 1 < count; at += 2) {
    const std::string name = arguments[at];
    if (name == "--script")
      options.script = arguments[at + 1];
    else if (name == "--data")
      options.data = arguments[at + 1];
    else if (name == "--commands")
      options.commands = std::atoi(arguments[at + 1]);
    else
      throw mql::host::ScriptError("unknown option " + name +
                                   " (there are --script, --data and --commands)");
  }
  if (count % 2 == 0)
    throw mql::host::ScriptError(std::string(arguments[count - 1]) + " needs a value");
  if (options.data.empty()) {
    const char* folder = std::getenv("MQL_FILES");
    options.data = folder != nullptr ? folder : "terminal";
  }
  return options;
}

mql::host::Script all_scripts() {
  mql::host::Script script;
  for (const auto& info : mql::all_programs()) {
    if (info.kind != mql::ProgramKind::script)
      continue;
    mql::host::Statement attach("attach");
    attach.settings.emplace_back("program", info.name);
    script.add(std::move(attach));
  }
  return script;
}

// What was registered first runs last: everything that is kept for the next run is saved by then.
char** again = nullptr;

void start_again() {
  if (again == nullptr)
    return;
  sigset_t closing;  // a signal that comes before the next run listens waits for it
  sigemptyset(&closing);
  sigaddset(&closing, SIGTERM);
  sigprocmask(SIG_BLOCK, &closing, nullptr);
  if (mql::terminal::told_to_stop())  // while it was closing
    return;
  execv("/proc/self/exe", again);
}

}  // namespace

int main(int count, char** arguments) {
  std::atexit(start_again);
  try {
    const auto options = options_of(count, arguments);
    mql::host::open_session(options.data, options.script.empty()
                                              ? all_scripts()
                                              : mql::host::Script::read(options.script));
    const auto& script = mql::host::script();
    mql::market::load_symbols(script);
    mql::terminal::load_socket_faults(script);
    for (const auto& [key, value] : script.merged("files").settings)
      mql::files::set_fault(key, value);
    mql::terminal::Terminal terminal(script, options.commands);
    const int code = terminal.run();
    if (terminal.restarts())
      again = arguments;
    return code;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return EXIT_CODE_UNUSABLE;
  }
}
