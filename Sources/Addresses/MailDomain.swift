extension StringProtocol {
    /// The domain of an email address, in lower case; nil unless it is a host name of several labels.
    package var mailDomain: String? {
        cut(atLast: "@").flatMap { RequestHost(String($0.1)) }.flatMap { host in
            host.port == nil && host.labels.count > 1 ? host.name : nil
        }
    }
}
