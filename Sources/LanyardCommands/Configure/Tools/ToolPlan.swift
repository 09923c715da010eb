import Secrets
import Terminal

/// What has to be written for a tool to ask lanyard.
struct ToolPlan: Sendable {
    /// What is missing.
    let changes: [ToolRecord.Entry]
    /// What stands there for another tool already, and is this one's too.
    private let shared: [ToolRecord.Entry]
    private let tool: any ConfigurableTool.Type
    private let place: ToolPlace

    /// Works out what is missing.
    init(_ tool: any ConfigurableTool.Type, _ place: ToolPlace) throws(Failure) {
        self.tool = tool
        self.place = place
        let others = try ToolRecord(place.context).entries().filter { $0.tool != tool.name }
        var (changes, shared): ([ToolRecord.Entry], [ToolRecord.Entry]) = ([], [])
        for change in try tool.changes(place) {
            let before = try change.setting.current()
            if before != change.value {
                let isNew = !place.context.isFile(change.setting.file)
                changes.append(
                    .init(tool: tool.name, place: place.url, change: change, before: before, isNewFile: isNew))
            } else if let other = others.first(where: { $0.change == change }) {
                shared.append(
                    .init(
                        tool: tool.name, place: place.url, change: change, before: other.before,
                        isNewFile: other.isNewFile))
            }
        }
        (self.changes, self.shared) = (changes, shared)
    }

    /// Refuses what could not be written, before anything is asked.
    func requireWritable() throws(Failure) {
        guard !changes.isEmpty else { return }
        for entry in changes { try entry.change.setting.requireWritable() }
        try ToolRecord(place.context).file.requireWritable()
    }

    /// Writes it, and records it first: whatever ends this process, nothing of lanyard's is there without a record.
    ///
    /// - Throws: `Failure` also if something else would have to be written by now.
    func write() throws(Failure) {
        guard !changes.isEmpty || !shared.isEmpty else { return }
        let record = try ToolRecord(place.context)
        let locked = try record.file.locked()
        let now = try ToolPlan(tool, place).changes
        // Another lanyard may have written the same meanwhile.
        guard now == changes || now.isEmpty else {
            throw Failure("\(tool.name)'s settings changed meanwhile, so nothing was written", hints: ["try again"])
        }
        let before = try record.entries().standing().filter { !now.contains($0) && !shared.contains($0) } + shared
        try locked.write(before + now)
        var written = 0
        do throws(Failure) {
            for entry in now {
                try entry.change.setting.write(entry.change.value)
                written += 1
            }
        } catch {
            // What was not written may be there as the user's own.
            try? locked.write(before + now.prefix(written))
            throw error
        }
    }
}

extension [ToolRecord.Entry] {
    /// The entries by their files, in their order, as they look there.
    func byFile(_ body: (_ file: String, _ entries: [ToolRecord.Entry]) -> Void) {
        var files: [String] = []
        for entry in self where !files.contains(entry.change.setting.file) { files.append(entry.change.setting.file) }
        for file in files { body(file, filter { $0.change.setting.file == file }) }
    }
}
