internal import Glibc
internal import Keyring
internal import Secrets

// Runs one operation of the store and prints the result. libsecret keeps one connection to one bus per process, so
// tests with several buses need several processes.

let arguments = ProbeArguments(Array(CommandLine.arguments.dropFirst()))
do {
    try await Probe(arguments).run()
} catch let error as KeyringError {
    print("error: \(error.reason)\(error.detail.isEmpty ? "" : " (\(error.detail.displayable()))")")
    exit(1)
} catch {
    print("error: \(error)")
    exit(1)
}
