import Glibc

/// A variable of this process's environment, which is also what its libraries read; nil if it is unset or empty.
func processVariable(_ name: String) -> String? {
    getenv(name).flatMap { $0.pointee == 0 ? nil : String(cString: $0) }
}
