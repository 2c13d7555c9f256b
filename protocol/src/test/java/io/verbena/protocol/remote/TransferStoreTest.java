package io.verbena.protocol.remote;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** {@link TransferStore}: what is counted, for how long, and for whom. */
class TransferStoreTest
{
    private static final int SHARE_BYTES = 1_000;
    private static final long CLIENT = 7;
    private static final long OTHER = 8;
    private static final long ID = 3;

    private final TransferStore store =
        new TransferStore((long)TransferStore.CONNECTIONS * SHARE_BYTES, new Random(1));
    private final UnsafeBuffer source = new UnsafeBuffer(new byte[2 * SHARE_BYTES]);

    private void part(final long connection, final long id, final int total, final int offset, final int length)
    {
        store.part(connection, id, total, offset, source, 0, length, 0);
    }

    /** The first part of a transfer that takes so much of the share, with what is counted beside its bytes. */
    private void take(final long connection, final long id, final int countedBytes)
    {
        final int length = countedBytes - TransferStore.TRANSFER_BYTES - TransferStore.PART_BYTES;
        part(connection, id, 2 * SHARE_BYTES, 0, length);
    }

    private void assertRefused(final Runnable request)
    {
        final long used = store.usedBytes();
        assertThatThrownBy(request::run).isInstanceOf(MalformedRequestException.class)
            .hasMessageContaining("no room for a transfer");
        assertThat(store.usedBytes()).isEqualTo(used);
    }

    @Test
    void shouldGiveAConnectionItsShareToTheByte()
    {
        take(CLIENT, ID, SHARE_BYTES - TransferStore.PART_BYTES - 1);
        assertRefused(() -> part(CLIENT, ID, 2 * SHARE_BYTES, 900, 2));
        assertRefused(() -> take(CLIENT, ID + 1, TransferStore.TRANSFER_BYTES + TransferStore.PART_BYTES));
        part(CLIENT, ID, 2 * SHARE_BYTES, 900, 1);
        assertThat(store.usedBytes()).isEqualTo(SHARE_BYTES);
        take(OTHER, ID, SHARE_BYTES);
        assertThat(store.usedBytes()).isEqualTo(2 * SHARE_BYTES);
    }

    @Test
    void shouldGiveAllConnectionsTogetherNoMoreThanTheWhole()
    {
        for (int i = 0; i < TransferStore.CONNECTIONS; i++)
        {
            take(i, ID, SHARE_BYTES);
        }
        assertRefused(() -> take(100, ID, TransferStore.TRANSFER_BYTES + TransferStore.PART_BYTES));
        assertThat(store.keep(100, new byte[0], 0)).isZero();
    }

    @Test
    void shouldCountNothingMoreForWhatWasTakenOrFetched()
    {
        part(CLIENT, ID, 20, 10, 10);
        assertThat(store.take(CLIENT, ID, 20)).as("half of it").isNull();
        part(CLIENT, ID, 20, 0, 10);
        assertThat(store.take(OTHER, ID, 20)).as("another connection").isNull();
        assertThat(store.take(CLIENT, ID, 19)).as("another length").isNull();
        assertThat(store.take(CLIENT, ID, 20)).hasSize(20);
        assertThat(store.take(CLIENT, ID, 20)).as("again").isNull();
        assertThat(store.usedBytes()).isZero();

        final long kept = store.keep(CLIENT, new byte[30], 0);
        assertThat(store.usedBytes()).isEqualTo(TransferStore.TRANSFER_BYTES + 30);
        assertThat(store.fetch(OTHER, kept, 30, 10)).as("another connection").isNull();
        assertThat(store.fetch(CLIENT, kept, 29, 10)).as("another length").isNull();
        assertThat(store.fetch(CLIENT, kept, 30, 20)).hasSize(30);
        assertThat(store.fetch(CLIENT, kept, 30, 10)).hasSize(30);
        assertThat(store.fetch(CLIENT, kept, 30, 10)).as("again").isNull();
        assertThat(store.usedBytes()).isZero();
        assertThat(store.connections()).isZero();
    }

    @Test
    void shouldKeepNoValueBeyondTheShare()
    {
        assertThat(store.keep(CLIENT, new byte[SHARE_BYTES - TransferStore.TRANSFER_BYTES + 1], 0)).isZero();
        assertThat(store.keep(CLIENT, new byte[SHARE_BYTES - TransferStore.TRANSFER_BYTES], 0)).isNotZero();
        assertThat(store.keep(CLIENT, new byte[0], 0)).isZero();
    }

    @Test
    void shouldForgetWhatNobodyTouchedForTenSeconds()
    {
        part(CLIENT, ID, 20, 0, 5);
        store.part(CLIENT, ID + 1, 20, 0, source, 0, 5, 0);
        store.keep(OTHER, new byte[5], 0);
        store.part(CLIENT, ID, 20, 5, source, 0, 5, 1);
        store.expire(TransferStore.MAX_AGE_NS);
        assertThat(store.usedBytes()).as("the one that went on")
            .isEqualTo(TransferStore.TRANSFER_BYTES + 2 * TransferStore.PART_BYTES + 10);
        assertThat(store.connections()).isEqualTo(1);
        store.expire(2 * TransferStore.MAX_AGE_NS);
        assertThat(store.usedBytes()).isZero();
        assertThat(store.connections()).isZero();
    }
}
