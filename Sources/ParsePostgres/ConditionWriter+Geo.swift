import ParseCore
import ParseWire
import Postgres

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

// Conditions on places. A rectangle of plain numbers comes first, for an index and because it leaves few rows to the
// functions.
extension ConditionWriter {
    func near(_ column: TableLayout.Column, _ center: GeoPoint, _ radians: Double?) -> String? {
        switch column.type {
        case .geoPoint: break
        case .array: return nil
        default: return Self.never
        }
        let names = column.names.map(own)
        guard let radians else { return "(\(names[0]) IS NOT NULL)" }
        let distance = Self.distance(from: center, names[0], names[1], parameters)
        return
            "(\(rectangle(names, around: center, radians)) AND \(distance) <= \(parameters.add(.double(radians))))"
    }

    func inside(_ column: TableLayout.Column, _ area: GeoArea) -> String? {
        switch column.type {
        case .geoPoint: return "(\(area.condition(own(column.names[0]), own(column.names[1]), parameters)))"
        case .array: return nil
        default: return Self.never
        }
    }

    func covers(_ column: TableLayout.Column, _ point: GeoPoint) -> String? {
        switch column.type {
        case .polygon: return Self.encloses("\(own(column.names[0]))::jsonb", point, parameters)
        case .array: return nil
        default: return Self.never
        }
    }

    /// Distance from a place, in radians.
    static func distance(
        from center: GeoPoint,
        _ latitude: String,
        _ longitude: String,
        _ parameters: Parameters
    ) -> String {
        let start = "\(parameters.add(.double(center.latitude))),\(parameters.add(.double(center.longitude)))"
        return "\(DatabaseFunctions.namespace).radians(\(start),\(latitude),\(longitude))"
    }

    /// That a polygon, as the JSON of its corners, has the point in it or on its border.
    static func encloses(_ corners: String, _ point: GeoPoint, _ parameters: Parameters) -> String {
        let functions = DatabaseFunctions.namespace
        return """
            \(functions).encloses(\(functions).corners(\(corners), 0), \(functions).corners(\(corners), 1), \
            \(parameters.add(.double(point.latitude))), \(parameters.add(.double(point.longitude))))
            """
    }

    private func rectangle(_ names: [String], around center: GeoPoint, _ radians: Double) -> String {
        // Rounding must not cut off what the exact test takes.
        let reach = radians * (1 + 1e-9) + 1e-9
        let degrees = reach * 180 / .pi
        let latitudes = between(names[0], center.latitude - degrees, center.latitude + degrees)
        let cosine = cos(center.latitude * .pi / 180)
        // Around a pole every longitude is near.
        guard reach < .pi / 2, abs(center.latitude) + degrees < 90, sin(reach) < cosine else {
            return latitudes
        }
        let width = asin(sin(reach) / cosine) * 180 / .pi + 1e-6
        let (west, east) = (center.longitude - width, center.longitude + width)
        if west < -180 { return "\(latitudes) AND \(beyond(names[1], east: east, west: west + 360))" }
        if east > 180 { return "\(latitudes) AND \(beyond(names[1], east: east - 360, west: west))" }
        return "\(latitudes) AND \(between(names[1], west, east))"
    }

    private func between(_ column: String, _ low: Double, _ high: Double) -> String {
        "\(column) BETWEEN \(parameters.add(.double(low))) AND \(parameters.add(.double(high)))"
    }

    /// Across the line where 180 degrees east meets 180 west.
    private func beyond(_ column: String, east: Double, west: Double) -> String {
        "(\(column) <= \(parameters.add(.double(east))) OR \(column) >= \(parameters.add(.double(west))))"
    }
}

extension GeoArea {
    /// That a place, whose coordinates are two expressions, is in the area.
    func condition(_ latitude: String, _ longitude: String, _ parameters: Parameters) -> String {
        func bound(_ number: Double) -> String { parameters.add(.double(number)) }
        switch self {
        case .box(let southWest, let northEast):
            return """
                \(latitude) BETWEEN \(bound(southWest.latitude)) AND \(bound(northEast.latitude)) \
                AND \(longitude) BETWEEN \(bound(southWest.longitude)) AND \(bound(northEast.longitude))
                """
        case .polygon(let corners):
            let latitudes = corners.map(\.latitude)
            guard let south = latitudes.min(), let north = latitudes.max() else {
                return ConditionWriter.never
            }
            let all = parameters.add(.doubleArray(latitudes))
            let others = parameters.add(.doubleArray(corners.map(\.longitude)))
            return """
                \(latitude) BETWEEN \(bound(south)) AND \(bound(north)) \
                AND \(DatabaseFunctions.namespace).encloses(\(all), \(others), \(latitude), \(longitude))
                """
        }
    }
}
