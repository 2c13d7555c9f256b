package io.verbena.compute.catalog;

import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.access.User;
import io.verbena.protocol.bootstrap.AccessTicket;
import io.verbena.protocol.bootstrap.MetaServerLocator;
import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.RevocationPage;
import io.verbena.protocol.message.UserPage;
import io.verbena.protocol.session.MetaLink;
import io.verbena.protocol.tls.RevokedCertificate;
import io.verbena.raas.failure.Backoff;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Follows the lists of users and of revoked certificates: asks the meta server for them whenever the cluster's version
 * has changed. When they cannot be had in time, users may do nothing until they can: a right that was taken away is not
 * used for longer than that after this node has heard of it, and a node that hears nothing loses its lease. Owned by
 * the node's thread.
 */
public final class UserWatch
{
    private static final long NOT_LISTED = -1;

    private final MetaLink metaLink;
    private final CatalogWatch catalog;
    private final Consumer<AccessRules> taker;
    private final long timeoutNs;
    private final Backoff backoff;
    private final List<User> users = new ArrayList<>();
    private final List<RevokedCertificate> revoked = new ArrayList<>();
    private AccessRules known;
    private ControlCall<UserPage> call;
    private ControlCall<RevocationPage> revocations;
    private long lookedVersion = NOT_LISTED;
    private long comingVersion;
    private long pagesVersion;
    private long staleSinceNs;
    private long retryAtNs;
    private boolean isStale = true;
    private boolean isSuspended;
    private String failure = "";

    /**
     * @param metaLink  over which to ask.
     * @param catalog   hears of versions.
     * @param before    rules of which the users are not known yet.
     * @param nowNs     time now.
     * @param timeoutNs of a call, and longest time that a list is used after a newer one was heard of.
     * @param taker     takes the rules whenever they change.
     */
    public UserWatch(
        final MetaLink metaLink, final CatalogWatch catalog, final AccessRules before, final long nowNs,
        final long timeoutNs, final Consumer<AccessRules> taker)
    {
        this.metaLink = metaLink;
        this.catalog = catalog;
        this.taker = taker;
        this.timeoutNs = timeoutNs;
        known = before;
        backoff = metaLink.retryBackoff();
        staleSinceNs = nowNs;
        retryAtNs = nowNs;
    }

    /**
     * What a node goes by that has not asked yet.
     *
     * @param metaServer of its cluster.
     * @return no users; operators can prove that they are.
     */
    public static AccessRules before(final MetaServerLocator metaServer)
    {
        final AccessTicket ticket = metaServer.nodeTicket();
        return AccessRules.of(null == ticket ? null : ticket.secret(), NOT_LISTED, List.of());
    }

    /** @return whether all users were listed once. */
    public boolean hasListed()
    {
        return NOT_LISTED != lookedVersion;
    }

    /** @return why the last list failed; empty when it did not. */
    public String failure()
    {
        return failure;
    }

    /** @return whether a list is due or under way. */
    public boolean isBusy()
    {
        return isUnderWay() || lookedVersion != catalog.heardVersion();
    }

    /**
     * Goes on.
     *
     * @param nowNs time now, by the clock of the device.
     * @return work done.
     */
    public int poll(final long nowNs)
    {
        if (!isBusy())
        {
            return 0;
        }
        noteStale(nowNs);
        if (!isUnderWay())
        {
            if (!metaLink.isUsable() || retryAtNs - nowNs > 0)
            {
                return 0;
            }
            comingVersion = catalog.heardVersion();
            users.clear();
            revoked.clear();
            call = metaLink.client().users("", known.version(), timeoutNs);
            return 1;
        }
        final ControlCall<?> done = null == call ? revocations : call;
        if (!done.isDone())
        {
            return 0;
        }
        final ControlCall<UserPage> ofUsers = call;
        final ControlCall<RevocationPage> ofCertificates = revocations;
        call = null;
        revocations = null;
        if (ControlStatus.OK != done.status())
        {
            failure = done.failure();
            retryAtNs = nowNs + backoff.nextPauseNs();
        }
        else if (null != ofUsers)
        {
            failure = "";
            onPage(ofUsers.result());
        }
        else
        {
            onRevoked(ofCertificates.result());
        }
        return 1;
    }

    private boolean isUnderWay()
    {
        return null != call || null != revocations;
    }

    private void noteStale(final long nowNs)
    {
        if (!isStale)
        {
            isStale = true;
            staleSinceNs = nowNs;
        }
        if (!isSuspended && nowNs - staleSinceNs > timeoutNs)
        {
            isSuspended = true;
            taker.accept(known.suspended("the list of users has changed and cannot be read: try again"));
        }
    }

    private void onPage(final UserPage page)
    {
        if (page.isUnchanged() && users.isEmpty())
        {
            onListed(known);
            return;
        }
        if (!users.isEmpty() && page.version() != pagesVersion)
        {
            return; // it has changed between two pages: from the beginning
        }
        pagesVersion = page.version();
        users.addAll(page.users());
        if (page.hasMore() && !page.users().isEmpty())
        {
            call = metaLink.client().users(users.getLast().name(), NOT_LISTED, timeoutNs);
            return;
        }
        revocations = metaLink.client().revocations(null, timeoutNs);
    }

    /** A change between two parts is another version: then all is asked for once more. */
    private void onRevoked(final RevocationPage page)
    {
        revoked.addAll(page.certificates());
        if (page.hasMore() && !page.certificates().isEmpty())
        {
            revocations = metaLink.client().revocations(revoked.getLast(), timeoutNs);
            return;
        }
        onListed(known.with(pagesVersion, users)
            .revoking(pagesVersion, revoked.stream().map(RevokedCertificate::number).toList()));
    }

    private void onListed(final AccessRules rules)
    {
        if (rules != known || isSuspended || !hasListed())
        {
            taker.accept(rules);
        }
        known = rules;
        isSuspended = false;
        isStale = false;
        lookedVersion = comingVersion;
        backoff.reset();
        users.clear();
    }
}
