/// `--name value` pairs followed by the operation, where git puts it, too.
struct ProbeArguments {
    private var options: [String: String] = [:]
    private(set) var operation = ""

    init(_ arguments: [String]) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument.hasPrefix("--") {
                options[String(argument.dropFirst(2))] = rest.popFirst()
            } else if operation.isEmpty {
                operation = argument
            }
        }
    }

    subscript(_ name: String) -> String? { options[name] }
}
