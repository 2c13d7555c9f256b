package io.verbena.raas;

/** What requests of one virtual queue pair are checked against, and the region that it reaches as a port. */
final class PortGrants
{
    private final RemoteRegion published;
    private PeerGrants ofChannel = PeerGrants.NONE;
    private PeerGrants checked = PeerGrants.NONE;
    private RemoteRegion region;

    /** @param published by the peer, for the port. */
    PortGrants(final RemoteRegion published)
    {
        this.published = published;
        region = published;
    }

    /** What the peer has published for the port. */
    RemoteRegion published()
    {
        return published;
    }

    /** The region that is reached as a port. */
    RemoteRegion region()
    {
        return region;
    }

    PeerGrants checked()
    {
        return checked;
    }

    /** Whether these were made from other grants than the channel has. */
    boolean isStale(final PeerGrants now)
    {
        return now != ofChannel;
    }

    /**
     * The queue pair was connected, or replaced by another one.
     *
     * @return false: what was granted before is not granted any more.
     */
    boolean renew(final PeerGrants now)
    {
        final boolean isLost =
            ofChannel != PeerGrants.NONE && (checked != ofChannel || now.regions().isEmpty());
        ofChannel = now;
        checked = now;
        region = now.inPlaceOf(published);
        return !isLost;
    }

    /** From now on, until the queue pair is replaced, one region that was granted apart from the connection. */
    void reach(final PeerGrants now, final RemoteRegion apart)
    {
        ofChannel = now;
        checked = PeerGrants.of(apart);
        region = apart;
    }
}
