import Files
import Rules
import Secrets
import Terminal
import TokenStore

extension Examination {
    /// Checks what lanyard keeps in memory between requests.
    var memoryFindings: [Finding] { [runtimeDirectory, kernelKeyring] }

    private var runtimeDirectory: Finding {
        let name = "runtime"
        let remedy = Hint.findingRuntimeFolder()
        guard let path = context.variable("XDG_RUNTIME_DIR") else {
            return .warn(name, "XDG_RUNTIME_DIR is not set, so no answer is remembered", remedy)
        }
        guard let status = FileStatus(of: path), status.isFolder else {
            return .warn(name, "XDG_RUNTIME_DIR names no folder: \(path.displayable())", remedy)
        }
        guard status.isOwn else {
            return .warn(name, "\(path.displayable()) belongs to another user, so no answer is remembered", remedy)
        }
        guard !status.grants(0o022) else {
            return .warn(
                name, "others may write to \(path.displayable())", Hint(run: "chmod 700\(last: path)"))
        }
        return .pass(name, path.displayable())
    }

    private var kernelKeyring: Finding {
        let name = "memory"
        guard configuration.answerCache else {
            return .pass(name, "answers are not remembered: turned off")
        }
        guard runtimeDirectory.level == .pass else {
            return .warn(name, "without a runtime directory, every get asks the keyring", .findingRuntimeFolder())
        }
        guard context.answers.key() != nil else {
            return .warn(
                name, "no kernel keyring can be used here, so every get asks the keyring",
                context.isInContainer
                    ? "this is optional; it needs a seccomp profile that allows keyctl and add_key"
                    : "nothing needs to be done; git only waits a little longer")
        }
        return .pass(name, "answers are remembered, sealed with a key in the kernel")
    }
}
