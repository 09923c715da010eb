internal import CGLib

extension KeyringSession {
    /// Creates an item in a collection; if `replacing`, this replaces an item with *at least* its attributes.
    ///
    /// The attributes include the schema.
    package func create(
        _ attributes: [String: String], label: String, secret: [UInt8], contentType: String,
        in collection: String, replacing: Bool = true
    ) throws(ServiceFailure) {
        let properties = try HashTable(propertiesOf: Self.item, label: label, attributes: attributes)
        let content = try SecretContent(secret, contentType)
        provider.awaitSession(watchdog)
        let path = try watchdog.calling {
            secret_service_create_item_dbus_path_sync(
                provider.service, collection, properties.pointer, content.pointer,
                replacing ? SECRET_ITEM_CREATE_REPLACE : SECRET_ITEM_CREATE_NONE, $0, $1)
        }
        guard let path else { throw ServiceFailure(.broken, detail: "no item was made") }
        g_free(path)
    }

    /// Replaces an item's secret.
    package func replaceSecret(
        of item: KeyringItem, with secret: [UInt8], contentType: String
    ) throws(ServiceFailure) {
        let content = try SecretContent(secret, contentType)
        provider.awaitSession(watchdog)
        let pointer = try watchdog.calling {
            secret_item_new_for_dbus_path_sync(
                provider.service, item.path, SECRET_ITEM_NONE, $0, $1)
        }
        guard let pointer else { throw ServiceFailure(.broken, detail: "no item") }
        defer { g_object_unref(UnsafeMutableRawPointer(pointer)) }
        try watchdog.succeeding { secret_item_set_secret_sync(pointer, content.pointer, $0, $1) }
    }

    /// Deletes an item; it isn't an error if it no longer exists.
    package func delete(_ item: KeyringItem) throws(ServiceFailure) {
        do throws(ServiceFailure) {
            try watchdog.succeeding {
                secret_service_delete_item_dbus_path_sync(provider.service, item.path, $0, $1)
            }
        } catch  where error.isMissingObject {
            return
        }
    }
}
