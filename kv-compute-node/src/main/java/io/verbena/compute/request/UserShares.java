package io.verbena.compute.request;

import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.access.User;
import io.verbena.protocol.access.UserQuota;
import io.verbena.protocol.request.OperationRequest;
import io.verbena.raas.identity.PeerIdentity;

import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.collections.IntHashSet;

import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Whose request begins next at a node where there are users: deficit round robin by bytes, as tenants share a queue
 * pair (a request costs 256 bytes and its length, a turn is 4 KiB). Nobody has more than three quarters of the
 * engine's slots, so that whoever comes beside a greedy one finds one at once; nor more {@link WaitingPlaces} than are
 * left beside. Whoever is no user, such as an operator, shares one turn. The node's thread; allocates when users
 * change, and never else.
 */
final class UserShares
{
    /** What a request costs beside its bytes. */
    static final int REQUEST_COST_BYTES = 256;
    /** What one may begin in a turn. */
    static final int QUANTUM_BYTES = 4096;

    private final int mostUnderWay;
    private final Int2ObjectHashMap<UserShare> byNumber = new Int2ObjectHashMap<>();
    private final WaitingPlaces taken = new WaitingPlaces();
    private final UserShare others = new UserShare(taken);
    /** Shares of which something waits, as a ring: the turn is that of the first. */
    private UserShare[] ring = new UserShare[1];
    private int first;
    private int count;
    private OperationRequest[] waiting = {};
    private int[] links = {};
    private int freePlace = UserShare.NONE;
    private int waitingCount;
    private boolean isEnforced;

    /** @param slots of the engine. */
    UserShares(final int slots)
    {
        mostUnderWay = Math.max(1, slots - Math.max(1, slots / 4));
    }

    /** There are these users from now on; what waits goes on waiting. */
    void users(final AccessRules rules, final long nowNs)
    {
        isEnforced = rules.isEnforced();
        if (isEnforced && 0 == waiting.length)
        {
            makePlaces();
        }
        final IntHashSet present = new IntHashSet();
        for (final User user : rules.users())
        {
            final PeerIdentity identity = user.identity();
            present.add(identity.nodeId());
            byNumber.computeIfAbsent(identity.nodeId(), (_) -> new UserShare(taken))
                .user(user.name(), identity.incarnation(), user.quota(), nowNs);
        }
        byNumber.forEachInt((number, share) ->
        {
            if (!present.contains(number))
            {
                share.user("", 0, UserQuota.NONE, nowNs);
            }
        });
        growRing(byNumber.size() + 1);
    }

    private void makePlaces()
    {
        waiting = new OperationRequest[WaitingPlaces.COUNT];
        links = new int[WaitingPlaces.COUNT];
        for (int place = 0; place < WaitingPlaces.COUNT; place++)
        {
            links[place] = freePlace;
            freePlace = place;
        }
    }

    private void growRing(final int length)
    {
        if (length > ring.length)
        {
            final UserShare[] longer = new UserShare[length];
            for (int i = 0; i < count; i++)
            {
                longer[i] = ring[(first + i) % ring.length];
            }
            ring = longer;
            first = 0;
        }
    }

    /** @return whether there are users: then all requests go by here. */
    boolean isEnforced()
    {
        return isEnforced;
    }

    /** @return whether one more request can wait. */
    boolean hasPlace()
    {
        return UserShare.NONE != freePlace;
    }

    /** @return requests that wait. */
    int waitingCount()
    {
        return waitingCount;
    }

    /**
     * The share of a caller: that of the user only with its present secret, so that nobody uses up the quota of another
     * with an old ticket.
     */
    UserShare of(final PeerIdentity caller)
    {
        if (null == caller || !caller.isUser())
        {
            return others;
        }
        final UserShare share = byNumber.get(caller.nodeId());
        return null != share && share.isOf(caller.incarnation()) ? share : others;
    }

    /** Whether it is that of whoever is no user. */
    boolean isOfOthers(final UserShare share)
    {
        return others == share;
    }

    /** Whether one has as many operations under way as one may. */
    boolean isAtMost(final UserShare share)
    {
        return share.underWay() >= mostUnderWay;
    }

    /** Keeps a request until it is its turn; {@link #hasPlace} must hold. */
    void add(final UserShare share, final OperationRequest request)
    {
        final int place = freePlace;
        freePlace = links[place];
        waiting[place] = request;
        links[place] = UserShare.NONE;
        if (UserShare.NONE == share.head)
        {
            share.head = place;
            ring[(first + count++) % ring.length] = share;
        }
        else
        {
            links[share.tail] = place;
        }
        share.tail = place;
        share.onWaits();
        waitingCount++;
    }

    /** @return the request that is next, which does not wait any more; null when there is none that may begin. */
    OperationRequest next()
    {
        int blocked = 0;
        while (blocked < count)
        {
            final UserShare share = ring[first];
            if (isAtMost(share))
            {
                // Its turn is not over: another one would be saved up with each look.
                blocked++;
                rotate();
                continue;
            }
            blocked = 0;
            if (!share.hasTurn)
            {
                share.hasTurn = true;
                share.deficitBytes += QUANTUM_BYTES;
            }
            final OperationRequest request = waiting[share.head];
            final long costBytes = (long)REQUEST_COST_BYTES + request.keyLength() + request.valueLength();
            if (share.deficitBytes >= costBytes)
            {
                share.deficitBytes -= costBytes;
                removeFirst(share);
                return request;
            }
            pass();
        }
        return null;
    }

    /** The turn goes to the next one. */
    private void pass()
    {
        ring[first].hasTurn = false;
        rotate();
    }

    private void rotate()
    {
        final UserShare share = ring[first];
        ring[first] = null;
        first = (first + 1) % ring.length;
        ring[(first + count - 1) % ring.length] = share;
    }

    private void removeFirst(final UserShare share)
    {
        final int place = share.head;
        share.head = links[place];
        waiting[place] = null;
        links[place] = freePlace;
        freePlace = place;
        share.onTurn();
        waitingCount--;
        if (UserShare.NONE == share.head)
        {
            // Nothing is saved up by whoever wants nothing.
            share.tail = UserShare.NONE;
            share.deficitBytes = 0;
            share.hasTurn = false;
            ring[first] = null;
            first = (first + 1) % ring.length;
            count--;
        }
    }

    /** Nothing waits any more. */
    void drain(final Consumer<OperationRequest> taker)
    {
        while (count > 0)
        {
            taker.accept(waiting[ring[first].head]);
            removeFirst(ring[first]);
        }
    }

    @Override
    public String toString()
    {
        return "UserShares{isEnforced=" + isEnforced + ", waiting=" + waitingCount + ", turns=" +
            Arrays.toString(ring) + '}';
    }
}
