import Addresses
import CommandKit
import Secrets
import Terminal

/// A shell whose completion script calls `lanyard complete`.
enum CompletingShell: String {
    case bash, zsh, fish

    /// Returns the answer to the shell's question, in the shell's own format.
    ///
    /// bash sends the line up to the cursor and its word breaks, other shells send words. bash expects only candidates
    /// that match, already quoted; other shells select and quote by themselves.
    func answer(_ question: [String], in context: CommandContext) -> String {
        switch self {
        case .bash:
            let line = BashLine(question.first ?? "", breaks: question.dropFirst().first ?? "")
            guard !line.isRedirection else { return "files\n" }
            return answer(Proposal(for: line.words, in: context)) { named, candidate in
                line.replacement(for: named + candidate.text)
            }
        case .zsh:
            return answer(Proposal(for: question, in: context)) { _, candidate in
                let text = candidate.text.replacing(bytes: "\\", with: "\\\\").replacing(bytes: ":", with: "\\:")
                return candidate.note.isEmpty ? text : "\(text):\(candidate.shortNote)"
            }
        case .fish:
            return answer(Proposal(for: question, in: context)) { named, candidate in
                "\(named)\(candidate.text)\t\(candidate.shortNote)"
            }
        }
    }

    private func answer(_ proposal: Proposal, _ line: (String, Candidate) -> String?) -> String {
        switch proposal {
        case .files: "files\n"
        case .command(let start): "command \(start)\n"
        case .candidates(let candidates, let named):
            (["values"] + candidates.compactMap { line(named, $0) }).map { $0 + "\n" }.joined()
        }
    }
}

extension Candidate {
    /// The note on one short line, without a full stop.
    fileprivate var shortNote: String {
        let text = note.displayable(limit: 100)
        return text.hasSuffix(".") && !text.hasSuffix("..") ? String(text.dropLast()) : text
    }
}
