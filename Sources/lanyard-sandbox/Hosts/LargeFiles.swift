import HTTPTypes
import Hummingbird
import JSON
import Synchronization

extension Visit {
    /// Whether the request comes from git-lfs: `/OWNER/NAME.git/info/lfs/…`.
    var isForLargeFiles: Bool { isForRepository && segments.dropFirst(2).starts(with: ["info", "lfs"]) }
}

/// Large files, as git-lfs gets and puts them, of anyone who may use the repository.
extension HostSite {
    func largeFiles(_ visit: Visit) -> Response {
        switch (visit.method, Array(visit.segments.dropFirst(4))) {
        case (.post, ["objects", "batch"]): batch(visit)
        case (.get, let path) where path.count == 2: file(path[1])
        case (.put, let path) where path.count == 2:
            host.largeFiles.withLock { files -> Response in
                files[path[1]] = visit.bytes
                return Response(status: .ok)
            }
        default: .json(["message": "Not found"], status: .notFound)
        }
    }

    private func file(_ id: String) -> Response {
        guard let bytes = host.largeFiles.withLock({ $0[id] }) else {
            return .json(["message": "Not found"], status: .notFound)
        }
        return Response(uncached: bytes, type: "application/octet-stream", status: .ok)
    }

    /// Says where each file is transferred: here, with no credential of its own.
    private func batch(_ visit: Visit) -> Response {
        let asked = JSONValue(bytes: visit.body.utf8)
        let operation = asked?["operation"]?.string == "upload" ? "upload" : "download"
        let place = "\(host.url)/\(visit.segments.prefix(4).joined(separator: "/"))/objects"
        let objects = (asked?["objects"]?.elements ?? []).map { object -> JSONValue in
            let id = object["oid"]?.string ?? ""
            return [
                "oid": .string(id), "size": object["size"] ?? 0,
                "actions": .object([operation: ["href": .string("\(place)/\(id)")]]),
            ]
        }
        return .json(["transfer": "basic", "objects": .array(objects)])
    }
}
