import Addresses
import Files
import Glibc
import Secrets
import SettingsFile
import Terminal
import ToolTexts

extension ToolSetting {
    /// Returns the current value; nil if there is none.
    func current() throws(Failure) -> String? {
        guard format != .link else { return target }
        return try reading { () throws(SettingsError) in
            guard let text = try SettingsText(reading: file).text else { return nil }
            // A script that isn't executable doesn't count.
            return format == .script && access(file, X_OK) != 0 ? "" : try value(in: text)
        }
    }

    /// Writes a value, or removes it if it is nil.
    ///
    /// - Parameters:
    ///   - value: The new value.
    ///   - before: The former state of the file, to restore it.
    /// - Throws: `Failure` if the file can't be written, or if it was changed meanwhile.
    func write(_ value: String?, asIn before: FileBefore = FileBefore()) throws(Failure) {
        guard format != .link else { return try link(to: value) }
        try reading { () throws(SettingsError) in
            let text = try SettingsText(reading: file)
            var changed = try self.text(
                text.text, with: value, isSetApart: before.isSetApart, keepingSection: before.hasSection,
                emptyObject: before.emptyObject)
            if before.isNew, value == nil, isEmpty(changed) { return try text.remove() }
            if before.isUnended, value == nil { changed = changed.unended(takenOutOf: text.text ?? "") }
            try text.replace(with: changed, for: format == .script ? .ownerToRun : .owner)
        }
    }

    /// Throws if the file's text can't take a value, before it is shown.
    func requireTaking(_ value: String) throws(Failure) {
        guard format != .link else { return }
        try reading { () throws(SettingsError) in _ = try text(try SettingsText(reading: file).text, with: value) }
    }

    /// Throws if the file can't be written, before the user is asked anything.
    func requireWritable() throws(Failure) {
        try reading { () throws(SettingsError) in
            try SettingsText(reading: format == .link ? "\(file).lanyard-draft" : file).requireReplaceable()
        }
    }

    private func reading<Result>(_ body: () throws(SettingsError) -> Result) throws(Failure) -> Result {
        do throws(SettingsError) { return try body() } catch { throw Failure(error) }
    }

    /// Whether the previous value can be restored after somebody has removed the one that replaced it.
    var canPutBack: Bool { ![.kubeUser, .script, .document, .link].contains(format) && FileStatus(of: file) != nil }

    /// The target of the link; empty if it isn't a link, nil if there is no file.
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
