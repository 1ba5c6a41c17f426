import JSON

/// Where a path of a condition leads in a row (MongoDB manual, "Query an Array of Embedded Documents").
///
/// A key leads into an object, and into each object of an array on the way; a whole number also leads to that
/// element of an array. Elements that are neither are passed over.
package enum PathValues {
    /// The values at the end of the path, `nil` for each place where it breaks off.
    ///
    /// None at all when the path leads through an array without an object in it: then the field has no value there,
    /// and not an absent one either, so that equality with null does not hold. A whole number beyond the end of an
    /// array breaks off.
    package static func values(of value: FieldValue?, at path: [String]) -> [FieldValue?] {
        guard !path.isEmpty else { return [value] }
        var found: [FieldValue?] = []
        switch value {
        case .array(let elements): collect(elements, path[...], &found)
        case .object(let object): collect(object, path[...], &found)
        default: found.append(nil)
        }
        return found
    }

    private static func collect(_ json: JSONValue, _ path: ArraySlice<String>, _ found: inout [FieldValue?]) {
        guard !path.isEmpty else {
            found.append(FieldValue(stored: json))
            return
        }
        switch json {
        case .array(let elements): collect(elements, path, &found)
        case .object(let object): collect(object, path, &found)
        default: found.append(nil)
        }
    }

    private static func collect(
        _ object: JSONObject,
        _ path: ArraySlice<String>,
        _ found: inout [FieldValue?]
    ) {
        guard let key = path.first else { return }
        if let value = object[key] {
            collect(value, path.dropFirst(), &found)
        } else {
            found.append(nil)
        }
    }

    private static func collect(
        _ elements: [JSONValue],
        _ path: ArraySlice<String>,
        _ found: inout [FieldValue?]
    ) {
        if let index = path.first.flatMap(index) {
            if elements.indices.contains(index) {
                collect(elements[index], path.dropFirst(), &found)
            } else {
                found.append(nil)
            }
        }
        for case .object(let object) in elements { collect(object, path, &found) }
    }

    private static func index(_ key: String) -> Int? {
        key.utf8.count <= 9 && key.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(key) : nil
    }
}
