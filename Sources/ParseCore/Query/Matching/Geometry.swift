#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension GeoPoint {
    package static let earthRadiusInMiles = 3959.0
    package static let earthRadiusInKilometers = 6371.0

    /// The distance on the sphere as an angle at its centre, in radians (haversine).
    package func radians(to other: GeoPoint) -> Double {
        let degree = Double.pi / 180
        let halfLatitude = sin((other.latitude - latitude) * degree / 2)
        let halfLongitude = sin((other.longitude - longitude) * degree / 2)
        let chord =
            halfLatitude * halfLatitude
            + cos(latitude * degree) * cos(other.latitude * degree) * halfLongitude * halfLongitude
        return 2 * asin(min(1, chord.squareRoot()))
    }
}

extension GeoArea {
    /// Whether the point is in the area or on its border, in the plane of latitude and longitude.
    ///
    /// A box whose south-west is not south and west of its north-east has no points: none is stretched across the
    /// date line.
    package func contains(_ point: GeoPoint) -> Bool {
        switch self {
        case .box(let southWest, let northEast):
            southWest.latitude <= point.latitude && point.latitude <= northEast.latitude
                && southWest.longitude <= point.longitude && point.longitude <= northEast.longitude
        case .polygon(let corners): Self.polygon(corners, contains: point)
        }
    }

    /// Even-odd rule; what lies exactly on an edge is inside.
    static func polygon(_ corners: [GeoPoint], contains point: GeoPoint) -> Bool {
        guard var previous = corners.last else { return false }
        var isInside = false
        for corner in corners {
            if isOnEdge(point, previous, corner) { return true }
            if (corner.latitude > point.latitude) != (previous.latitude > point.latitude) {
                let share = (point.latitude - corner.latitude) / (previous.latitude - corner.latitude)
                let crossing = corner.longitude + share * (previous.longitude - corner.longitude)
                if point.longitude < crossing { isInside.toggle() }
            }
            previous = corner
        }
        return isInside
    }

    private static func isOnEdge(_ point: GeoPoint, _ start: GeoPoint, _ end: GeoPoint) -> Bool {
        let cross =
            (end.longitude - start.longitude) * (point.latitude - start.latitude)
            - (end.latitude - start.latitude) * (point.longitude - start.longitude)
        return cross == 0
            && min(start.latitude, end.latitude) <= point.latitude
            && point.latitude <= max(start.latitude, end.latitude)
            && min(start.longitude, end.longitude) <= point.longitude
            && point.longitude <= max(start.longitude, end.longitude)
    }
}
