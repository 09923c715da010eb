internal import Glibc
internal import Secrets
internal import TokenStore

// Runs one operation of the store and prints what came of it. libsecret holds one connection to one bus for each
// process, so that tests of many buses need many processes.

let arguments = ProbeArguments(Array(CommandLine.arguments.dropFirst()))
do {
    try await Probe(arguments).run()
} catch let error as StoreError {
    print("error: \(error.reason)\(error.detail.isEmpty ? "" : " (\(error.detail.displayable()))")")
    exit(1)
} catch {
    print("error: \(error)")
    exit(1)
}
