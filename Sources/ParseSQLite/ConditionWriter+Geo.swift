import ParseCore
import ParseWire
import SQLite

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

// Conditions on the two columns of a geo point. A rectangle of plain numbers comes first, for an index and because it
// leaves few rows to the functions.
extension ConditionWriter {
    func near(_ column: TableLayout.Column, _ center: GeoPoint, _ radians: Double?) throws(ParseError)
        -> SQLCondition?
    {
        guard column.type == .geoPoint else { return nil }
        guard let radians else { return SQLCondition(text: "\(column.name) IS NOT NULL") }
        return rectangle(column, around: center, radians)
            .and(try test(.near(column.field, center, maxRadians: radians), on: column))
    }

    func inside(_ column: TableLayout.Column, _ area: GeoArea) throws(ParseError) -> SQLCondition? {
        guard column.type == .geoPoint else { return nil }
        let exact = try test(.inside(column.field, area), on: column)
        switch area {
        case .box(let southWest, let northEast):
            return between(column.names[0], southWest.latitude, northEast.latitude).and(exact)
        case .polygon(let corners):
            let latitudes = corners.map(\.latitude)
            guard let south = latitudes.min(), let north = latitudes.max() else { return .never }
            return between(column.names[0], south, north).and(exact)
        }
    }

    /// Distance from a place, for sorting.
    static func distance(_ column: TableLayout.Column, from center: GeoPoint) -> SQLCondition {
        SQLCondition(
            text: "\(SQLFunctions.distance)(\(column.names.joined(separator: ",")),?,?)",
            parameters: [.real(center.latitude), .real(center.longitude)]
        )
    }

    private func rectangle(
        _ column: TableLayout.Column,
        around center: GeoPoint,
        _ radians: Double
    ) -> SQLCondition {
        // Rounding must not cut off what the exact test takes.
        let reach = radians * (1 + 1e-9) + 1e-9
        let degrees = reach * 180 / .pi
        let latitudes = between(column.names[0], center.latitude - degrees, center.latitude + degrees)
        let cosine = cos(center.latitude * .pi / 180)
        // Around a pole every longitude is near.
        guard reach < .pi / 2, abs(center.latitude) + degrees < 90, sin(reach) < cosine else {
            return latitudes
        }
        let width = asin(sin(reach) / cosine) * 180 / .pi + 1e-6
        let (west, east) = (center.longitude - width, center.longitude + width)
        if west < -180 {
            return latitudes.and(beyond(column.names[1], east: east, west: west + 360))
        }
        if east > 180 {
            return latitudes.and(beyond(column.names[1], east: east - 360, west: west))
        }
        return latitudes.and(between(column.names[1], west, east))
    }

    private func between(_ column: String, _ low: Double, _ high: Double) -> SQLCondition {
        SQLCondition(text: "\(column) BETWEEN ? AND ?", parameters: [.real(low), .real(high)])
    }

    /// Across the line where 180 degrees east meets 180 west.
    private func beyond(_ column: String, east: Double, west: Double) -> SQLCondition {
        SQLCondition(text: "(\(column)<=? OR \(column)>=?)", parameters: [.real(east), .real(west)])
    }
}
