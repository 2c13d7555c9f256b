package io.verbena.memory;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import org.junit.jupiter.api.Test;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

import static org.assertj.core.api.Assertions.assertThat;

/** On a device that reuses the least key that is free, as some do. */
class IdentityKeysTest
{
    private final TreeSet<Integer> free = new TreeSet<>(List.of(-1, 0, 1, 2, 3, 4, 5, 6, 7));
    private final List<Integer> registered = new ArrayList<>();
    private final ProtectionDomain domain = (ProtectionDomain)Proxy.newProxyInstance(
        ProtectionDomain.class.getClassLoader(), new Class<?>[]{ProtectionDomain.class},
        (self, method, arguments) -> region(free.pollFirst()));
    private final IdentityKeys keys = new IdentityKeys(domain, region(99));

    private MemoryRegion region(final int key)
    {
        registered.add(key);
        return (MemoryRegion)Proxy.newProxyInstance(
            MemoryRegion.class.getClassLoader(), new Class<?>[]{MemoryRegion.class}, (self, method, arguments) ->
            switch (method.getName())
            {
                case "remoteKey" -> key;
                case "close" ->
                {
                    registered.remove((Object)key);
                    free.add(key);
                    yield null;
                }
                case "segment" -> null;
                default -> throw new UnsupportedOperationException(method.getName());
            });
    }

    private int grant(final int nodeId, final int incarnation)
    {
        return keys.grant(new PeerIdentity(nodeId, incarnation)).remoteKey();
    }

    @Test
    void shouldMakeKeysAheadOfTimeOneByOne()
    {
        final PeerIdentity first = new PeerIdentity(1, 5);
        final PeerIdentity second = new PeerIdentity(2, 6);
        assertThat(keys.prepareNext(List.of(first, second))).isTrue();
        assertThat(registered).containsExactly(99, -1);
        assertThat(keys.prepareNext(List.of(first, second))).isTrue();
        assertThat(keys.prepareNext(List.of(first, second))).as("both have one").isFalse();
        assertThat(keys.preparedCount()).isEqualTo(2);
        assertThat(keys.has(first)).as("nobody has it").isFalse();

        assertThat(grant(1, 5)).as("that one").isEqualTo(-1);
        assertThat(grant(1, 5)).isEqualTo(-1);
        assertThat(keys.has(first)).isTrue();
        assertThat(keys.prepareNext(List.of(first, second))).as("who has one needs none").isFalse();
        assertThat(keys.revoke(first)).isEqualTo(1);

        assertThat(keys.prepareNext(List.of())).as("does not come").isTrue();
        assertThat(keys.prepareNext(List.of())).isFalse();
        assertThat(registered).containsExactly(99);
        assertThat(grant(3, 1)).as("nobody had it").isZero();
    }

    @Test
    void shouldCloseWhatWasPrepared()
    {
        keys.prepareNext(List.of(new PeerIdentity(1, 5)));
        grant(2, 1);
        keys.close();
        assertThat(registered).containsExactly(99);
    }

    @Test
    void shouldPrepareNoRevokedKey()
    {
        assertThat(grant(1, 1)).isEqualTo(-1);
        keys.revoke(new PeerIdentity(1, 1));
        keys.prepareNext(List.of(new PeerIdentity(1, 2)));
        assertThat(grant(1, 2)).as("its holder of before may still have the other").isZero();
    }

    @Test
    void shouldCloseTheKeysOfAViewApartFromThatOfWhoReconciles()
    {
        final PeerIdentity named = new PeerIdentity(1, 1);
        assertThat(grant(1, 1)).isEqualTo(-1);
        assertThat(grant(2, 1)).isZero();
        assertThat(keys.grantReconciler(named, 7).remoteKey()).isEqualTo(1);
        assertThat(keys.grantReconciler(named, 8).remoteKey()).as("of another group").isEqualTo(2);
        keys.closeAll();
        assertThat(registered).containsExactly(99, 1, 2);
        keys.closeReconciler(7);
        keys.closeReconciler(7);
        assertThat(registered).containsExactly(99, 2);
        assertThat(grant(1, 1)).as("keys that were closed are not granted again").isEqualTo(3);
        assertThat(keys.revoke(named)).as("its own, and the one to reconcile").isEqualTo(2);
        assertThat(registered.stream().filter((key) -> key == 2 || key == 3)).isEmpty();
        keys.grantReconciler(named, 7);
        keys.close();
        assertThat(registered).as("what is registered still").containsExactly(99);
    }

    /** The end of an earlier life may not have been heard of here. */
    @Test
    void shouldRevokeTheKeysOfEarlierLivesAndOfNobodyElse()
    {
        assertThat(grant(1, 1)).isEqualTo(-1);
        assertThat(grant(1, 2)).isZero();
        assertThat(grant(1, 3)).isEqualTo(1);
        assertThat(grant(2, 1)).isEqualTo(2);
        assertThat(keys.grantReconciler(new PeerIdentity(1, 1), 7).remoteKey()).isEqualTo(3);
        assertThat(keys.grantReconciler(new PeerIdentity(1, 3), 8).remoteKey()).isEqualTo(4);
        assertThat(keys.grantReconciler(new PeerIdentity(2, 1), 9).remoteKey()).isEqualTo(5);
        assertThat(keys.revoke(new PeerIdentity(1, 2))).as("two, and the one to reconcile").isEqualTo(3);
        assertThat(registered).containsExactly(99, 1, 2, 4, 5);
        assertThat(keys.has(new PeerIdentity(1, 1))).isFalse();
        assertThat(keys.has(new PeerIdentity(1, 3))).isTrue();
        assertThat(keys.revoke(new PeerIdentity(1, 2))).as("there are none any more").isZero();
        keys.close();
    }

    @Test
    void shouldNeverGrantARevokedKeyAgain()
    {
        assertThat(grant(1, 1)).isEqualTo(-1);
        assertThat(grant(2, 1)).isZero();
        assertThat(grant(1, 1)).as("the same for each connection").isEqualTo(-1);
        assertThat(keys.revoke(new PeerIdentity(1, 1))).isEqualTo(1);
        assertThat(keys.revoke(new PeerIdentity(1, 1))).isZero();
        assertThat(grant(1, 2)).as("its holder of before may still have it").isEqualTo(1);
        assertThat(keys.revoke(new PeerIdentity(2, 1))).isEqualTo(1);
        assertThat(keys.revoke(new PeerIdentity(1, 2))).isEqualTo(1);
        assertThat(grant(3, 1)).isEqualTo(2);
        assertThat(grant(4, 1)).isEqualTo(3);
        keys.close();
        assertThat(registered).as("what is registered still").containsExactly(99);
    }
}
