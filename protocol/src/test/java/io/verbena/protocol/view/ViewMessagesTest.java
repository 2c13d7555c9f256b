package io.verbena.protocol.view;

import io.verbena.protocol.message.ControlException;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.RpcClient;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.test.FormatPage;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class ViewMessagesTest
{
    private static final int AT = 8;
    private static final PeerIdentity HEAD = new PeerIdentity(4, 40);
    private static final PeerIdentity PRIMARY = new PeerIdentity(5, 50);
    private static final View CLOSING =
        View.first(7, List.of(HEAD, PRIMARY)).closing(1, new PeerIdentity(9, 90));

    private static final View ENTERING =
        View.first(7, List.of(HEAD, PRIMARY)).filling(new PeerIdentity(6, 60), new PeerIdentity(9, 90)).filled();

    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[RpcClient.MAX_MESSAGE_BYTES]);

    @Test
    void shouldDocumentEveryMessage() throws IOException
    {
        final FormatPage page = FormatPage.of("view-messages.md");
        for (final Class<?> descriptor : List.of(ViewDescriptor.class, ViewPageDescriptor.class,
            LeftViewsDescriptor.class, ViewAttemptDescriptor.class, GroupDescriptor.class, RegionKeyDescriptor.class,
            FillProgressDescriptor.class, RestoredGroupsDescriptor.class))
        {
            page.shouldAgreeWith(descriptor);
        }
    }

    @Test
    void shouldReadWhatItWrote()
    {
        for (final View view : List.of(CLOSING, CLOSING.reconciling(), CLOSING.next(),
            CLOSING.returned(0, new PeerIdentity(4, 41)), ENTERING, ENTERING.reconciling(),
            View.first(7, List.of(HEAD)).filling(PRIMARY, new PeerIdentity(9, 90))))
        {
            final int lengthBytes = ViewDescriptor.encode(view, buffer, AT);
            assertThat(lengthBytes).isEqualTo(ViewDescriptor.lengthBytes(view));
            assertThat(ViewDescriptor.decode(buffer, AT, lengthBytes)).isEqualTo(view);
            assertThatThrownBy(() -> ViewDescriptor.decode(buffer, AT, lengthBytes - 1))
                .isInstanceOf(ControlException.class).hasMessageContaining("needs " + lengthBytes);
        }
        final ViewAttempt attempt = new ViewAttempt(7, 1L << 40, 3);
        for (final boolean areEqual : List.of(true, false))
        {
            final int lengthBytes = ViewAttemptDescriptor.encode(attempt, areEqual, buffer, AT);
            assertThat(ViewAttemptDescriptor.decode(buffer, AT, lengthBytes)).isEqualTo(attempt);
            assertThat(ViewAttemptDescriptor.areEqual(buffer, AT)).isEqualTo(areEqual);
        }
        final RemoteRegion region = new RemoteRegion(1L << 50, 1L << 33, -3);
        assertThat(RegionKeyDescriptor.decode(buffer, AT, RegionKeyDescriptor.encode(region, buffer, AT)))
            .isEqualTo(region);
        assertThat(GroupDescriptor.decode(buffer, AT, GroupDescriptor.encode(7, List.of(6, 4, 5), buffer, AT)))
            .containsExactly(6, 4, 5);
        assertThat(GroupDescriptor.group(buffer, AT)).isEqualTo(7);
        assertThat(GroupDescriptor.entering(buffer, AT, GroupDescriptor.encode(7, List.of(9), buffer, AT)))
            .isEqualTo(9);
    }

    @Test
    void shouldReadHowFarMemoryNodesAreFilled()
    {
        final FillProgress one = new FillProgress(new ViewAttempt(7, 1L << 40, 3), 1L << 41, 1L << 42, 1L << 43,
            1L << 44, 2, 77);
        final FillProgress two = new FillProgress(new ViewAttempt(8, 1, 1), 0, 0, 0, 4096, 1, FillProgress.UNKNOWN);
        final int length = FillProgressDescriptor.encode(List.of(one, two), buffer, AT);
        assertThat(FillProgressDescriptor.decode(buffer, AT, length)).containsExactly(one, two);
        assertThatThrownBy(() -> FillProgressDescriptor.decode(buffer, AT, length - 1))
            .isInstanceOf(ControlException.class).hasMessageContaining("needs " + length);
        assertThatThrownBy(() -> FillProgressDescriptor.decodeOne(buffer, AT, length))
            .isInstanceOf(ControlException.class).hasMessageContaining("2 reports");
        assertThat(FillProgressDescriptor.decodeOne(buffer, AT,
            FillProgressDescriptor.encode(List.of(two), buffer, AT))).isEqualTo(two);
        final int most = FillProgressDescriptor.encode(Collections.nCopies(100, one), buffer, AT);
        assertThat(most).isLessThanOrEqualTo(RpcClient.MAX_MESSAGE_BYTES - AT);
        assertThat(FillProgressDescriptor.decode(buffer, AT, most)).hasSize(FillProgressDescriptor.MAX_ENTRIES);
        buffer.putInt(AT + FillProgressDescriptor.COUNT_OFFSET, FillProgressDescriptor.MAX_ENTRIES + 1);
        assertThatThrownBy(() -> FillProgressDescriptor.decode(buffer, AT, most)).hasMessageContaining("at most 64");
        assertThatThrownBy(() -> new FillProgress(new ViewAttempt(7, 1, 1), 2, 1, 3, 4, 1, 0))
            .hasMessageContaining("copied 2 of 1");
    }

    @Test
    void shouldReadWhatAMemoryNodeHasRestored()
    {
        final RestoredGroup one = new RestoredGroup(7, 1L << 40, 1L << 41, 1L << 42, false);
        final List<RestoredGroup> both = List.of(
            one, RestoredGroup.nothing(8), new RestoredGroup(9, 3, 4, 5, true));
        final int length = RestoredGroupsDescriptor.encode(HEAD, both, buffer, AT);
        assertThat(RestoredGroupsDescriptor.memoryNode(buffer, AT, length)).isEqualTo(HEAD);
        assertThat(RestoredGroupsDescriptor.decode(buffer, AT, length)).isEqualTo(both);
        assertThatThrownBy(() -> RestoredGroupsDescriptor.decode(buffer, AT, length - 1))
            .isInstanceOf(ControlException.class).hasMessageContaining("needs " + length);
        assertThatThrownBy(() -> RestoredGroupsDescriptor.memoryNode(buffer, AT, 15))
            .isInstanceOf(ControlException.class).hasMessageContaining("needs 16");
        final int most = RestoredGroupsDescriptor.encode(
            HEAD, Collections.nCopies(RestoredGroupsDescriptor.MAX_ENTRIES, one), buffer, AT);
        assertThat(most).isLessThanOrEqualTo(RpcClient.MAX_MESSAGE_BYTES - AT);
        buffer.putInt(AT + RestoredGroupsDescriptor.COUNT_OFFSET, RestoredGroupsDescriptor.MAX_ENTRIES + 1);
        assertThatThrownBy(() -> RestoredGroupsDescriptor.decode(buffer, AT, most)).hasMessageContaining("at most 100");
        buffer.putInt(AT + RestoredGroupsDescriptor.COUNT_OFFSET, 1);
        buffer.putInt(
            AT + RestoredGroupsDescriptor.ENTRIES_OFFSET + RestoredGroupsDescriptor.GROUP_OFFSET, 0);
        assertThatThrownBy(() -> RestoredGroupsDescriptor.decode(buffer, AT, most)).hasMessageContaining("group=0");
        assertThatThrownBy(() -> new RestoredGroup(7, 0, 1, 0, false)).hasMessageContaining("startedMs=1");
        assertThatThrownBy(() -> new RestoredGroup(7, 0, 0, 0, true)).hasMessageContaining("isOfPrimary=true");
    }

    /** From the best to the worst, when the last view is 5. */
    @Test
    void shouldPreferCheckpointsWithoutOperationsThatWereRefused()
    {
        final List<RestoredGroup> order = List.of(
            new RestoredGroup(7, 5, 40, 1, false), new RestoredGroup(7, 5, 30, 1, true),
            new RestoredGroup(7, 5, 20, 1, false), new RestoredGroup(7, 5, 10, 1, true),
            new RestoredGroup(7, 4, 60, 1, true), new RestoredGroup(7, 3, 70, 1, true),
            new RestoredGroup(7, 4, 90, 1, false), new RestoredGroup(7, 4, 80, 1, false),
            new RestoredGroup(7, 3, 99, 1, false));
        for (int better = 0; better < order.size(); better++)
        {
            for (int worse = 0; worse < order.size(); worse++)
            {
                assertThat(order.get(better).isPreferredTo(order.get(worse), 5))
                    .as("%s, %s", order.get(better), order.get(worse)).isEqualTo(better < worse);
            }
        }
    }

    @Test
    void shouldSayThatThereIsMoreWhereNotAllViewsFit()
    {
        final List<View> views = new ArrayList<>(Collections.nCopies(100, CLOSING));
        final int lengthBytes = ViewPageDescriptor.encode(new ViewPage(views, false), buffer, AT);
        final ViewPage page = ViewPageDescriptor.decode(buffer, AT, lengthBytes);
        assertThat(AT + lengthBytes).isLessThanOrEqualTo(RpcClient.MAX_MESSAGE_BYTES);
        assertThat(page.hasMore()).isTrue();
        assertThat(page.views()).hasSizeBetween(80, 99).containsOnly(CLOSING);
        final ViewPage last = new ViewPage(List.of(CLOSING), false);
        assertThat(ViewPageDescriptor.decode(buffer, AT, ViewPageDescriptor.encode(last, buffer, AT)))
            .isEqualTo(last);
    }

    @Test
    void shouldTakeAsManyLeftViewsAsFitAMessage()
    {
        final List<LeftView> most = new ArrayList<>(
            Collections.nCopies(LeftViewsDescriptor.MAX_VIEWS, new LeftView(7, 1L << 40)));
        final int lengthBytes = LeftViewsDescriptor.encode(most, 12, buffer, AT);
        assertThat(LeftViewsDescriptor.decode(buffer, AT, lengthBytes)).isEqualTo(most);
        assertThat(LeftViewsDescriptor.afterGroup(buffer, AT)).isEqualTo(12);
        most.add(new LeftView(8, 0));
        assertThatThrownBy(() -> LeftViewsDescriptor.encode(most, 0, buffer, AT))
            .isInstanceOf(ControlException.class).hasMessageContaining("251");
    }

    @Test
    void shouldRefuseWhatIsNone()
    {
        final int lengthBytes = ViewDescriptor.encode(CLOSING, buffer, AT);
        buffer.putShort(AT + ViewDescriptor.STATE_OFFSET, (short)9);
        assertThatThrownBy(() -> ViewDescriptor.decode(buffer, AT, lengthBytes)).hasMessageContaining("state 9");
        ViewDescriptor.encode(CLOSING, buffer, AT);
        buffer.putByte(AT + ViewDescriptor.MEMBER_COUNT_OFFSET, (byte)9);
        assertThatThrownBy(() -> ViewDescriptor.decode(buffer, AT, 200)).hasMessageContaining("9 members");
        ViewDescriptor.encode(CLOSING, buffer, AT);
        buffer.putByte(AT + ViewDescriptor.ENTERING_COUNT_OFFSET, (byte)2);
        assertThatThrownBy(() -> ViewDescriptor.decode(buffer, AT, 200)).hasMessageContaining("2 that come in");
        ViewDescriptor.encode(CLOSING, buffer, AT);
        buffer.putShort(AT + ViewDescriptor.LOST_OFFSET, (short)4);
        assertThatThrownBy(() -> ViewDescriptor.decode(buffer, AT, lengthBytes))
            .isInstanceOf(ControlException.class).hasMessageContaining("lost=4");
        ViewDescriptor.encode(CLOSING, buffer, AT);
        buffer.putShort(AT + ViewDescriptor.COPIES_OFFSET, (short)9);
        assertThatThrownBy(() -> ViewDescriptor.decode(buffer, AT, lengthBytes)).hasMessageContaining("copies=9");

        LeftViewsDescriptor.encode(List.of(new LeftView(0, 1)), 0, buffer, AT);
        assertThatThrownBy(() -> LeftViewsDescriptor.decode(buffer, AT, 24)).hasMessageContaining("group=0");
        ViewAttemptDescriptor.encode(new ViewAttempt(7, 0, 1), false, buffer, AT);
        assertThatThrownBy(() -> ViewAttemptDescriptor.decode(buffer, AT, 24)).hasMessageContaining("number=0");
        RegionKeyDescriptor.encode(RemoteRegion.NONE, buffer, AT);
        assertThatThrownBy(() -> RegionKeyDescriptor.decode(buffer, AT, 24)).hasMessageContaining("without bytes");
        for (final List<Integer> wrong : List.of(List.of(4, 4), List.of(0)))
        {
            final int bytes = GroupDescriptor.encode(0, wrong, buffer, AT);
            assertThatThrownBy(() -> GroupDescriptor.decode(buffer, AT, bytes)).hasMessageContaining("no group");
        }
        assertThatThrownBy(() -> GroupDescriptor.encode(0, List.of(), buffer, AT)).hasMessageContaining("not 0");
        final int two = GroupDescriptor.encode(7, List.of(4, 5), buffer, AT);
        assertThatThrownBy(() -> GroupDescriptor.entering(buffer, AT, two)).hasMessageContaining("one memory node at");
    }
}
