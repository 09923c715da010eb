import Addresses
import Files
import Glibc
import Secrets
import SettingsFile
import Terminal
import ToolTexts

extension ToolSetting {
    /// The value that stands there; nil if there is none.
    func current() throws(Failure) -> String? {
        guard format != .link else { return target }
        return try reading { () throws(SettingsError) in
            guard let text = try SettingsText(reading: file).text else { return nil }
            // What can't be run is no program.
            return format == .script && access(file, X_OK) != 0 ? "" : try value(in: text)
        }
    }

    /// Puts a value there, or takes it away if it is nil.
    ///
    /// - Parameters:
    ///   - value: the new one.
    ///   - before: what the file was, for one that is to become that again.
    /// - Throws: `Failure` if it can't be written, or was changed meanwhile.
    func write(_ value: String?, asIn before: FileBefore = FileBefore()) throws(Failure) {
        guard format != .link else { return try link(to: value) }
        try reading { () throws(SettingsError) in
            let text = try SettingsText(reading: file)
            var changed = try self.text(
                text.text, with: value, isSetApart: before.isSetApart, keepingSection: before.hasSection)
            if before.isNew, value == nil, isEmpty(changed) { return try text.remove() }
            if before.isUnended, value == nil { changed = changed.unended(takenOutOf: text.text ?? "") }
            try text.replace(with: changed, for: format == .script ? .ownerToRun : .owner)
        }
    }

    /// Refuses a value that the file's text can't take, before it is shown.
    func requireTaking(_ value: String) throws(Failure) {
        guard format != .link else { return }
        try reading { () throws(SettingsError) in _ = try text(try SettingsText(reading: file).text, with: value) }
    }

    /// Refuses what could not be written, before anybody is asked.
    func requireWritable() throws(Failure) {
        try reading { () throws(SettingsError) in
            try SettingsText(reading: format == .link ? "\(file).lanyard-draft" : file).requireReplaceable()
        }
    }

    private func reading<Result>(_ body: () throws(SettingsError) -> Result) throws(Failure) -> Result {
        do throws(SettingsError) { return try body() } catch { throw Failure(error) }
    }

    /// Whether a value can be put back after somebody took out the one that took its place.
    var canPutBack: Bool { ![.kubeUser, .script, .document, .link].contains(format) && FileStatus(of: file) != nil }
}

extension ToolSetting {
    /// What the link leads to; empty if it isn't a link, nil if there is nothing.
    private var target: String? {
        if let target = SymbolicLink.target(of: file) { return target }
        return errno == ENOENT || errno == ENOTDIR ? nil : ""
    }

    private func link(to value: String?) throws(Failure) {
        guard let value else {
            unlink(file)
            return
        }
        let folder = FileTrust.parent(of: file)
        Folder.make(folder)
        do throws(FileProblem) {
            try Folder(folder).link(String(file.cut(atLast: "/")?.1 ?? file[...]), to: value)
        } catch {
            throw Failure(
                "\(file.displayable()) cannot be made: \(error.reason.lowercased())",
                hints: ["make its folder writable"])
        }
    }
}
