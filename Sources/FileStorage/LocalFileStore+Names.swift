import JSON
import ParseCore

extension LocalFileStore {
    /// Goes through the folders of an app in order, and through each in the order of the names on disk.
    package func names(ofApp appID: String, after name: String?, limit: Int) async throws -> [String] {
        let folder = appFolder(appID)
        let last = name.map { (shard: StoredName.shard($0), stored: StoredName.encode($0)) }
        return try await onDisk { [self] in
            var names: [String] = []
            for shard in try Disk.names(in: folder).sorted() {
                if let last, shard < last.shard { continue }
                for stored in try Disk.names(in: folder + "/" + shard).sorted() {
                    guard names.count < limit else { return names }
                    if let last, shard == last.shard, stored <= last.stored { continue }
                    let path = "\(folder)/\(shard)/\(stored)"
                    if let name = try self.name(of: stored, path), StoredName.shard(name) == shard {
                        names.append(name)
                    }
                }
            }
            return names
        }
    }

    /// `nil` for what is no file of ours, and for one that was deleted meanwhile.
    private func name(of stored: String, _ path: String) throws -> String? {
        guard !stored.utf8.contains(UInt8(ascii: "+")) else { return nil }
        if StoredName.isWhole(stored) { return StoredName.decode(stored) }
        guard let name = try about(path)?["name"]?.stringValue, StoredName.encode(name) == stored else {
            return nil
        }
        return name
    }
}
