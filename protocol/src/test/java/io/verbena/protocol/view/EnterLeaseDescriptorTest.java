package io.verbena.protocol.view;

import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.EnteredLease;
import io.verbena.protocol.message.MirroredChunk;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.test.FormatPage;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.HexFormat;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class EnterLeaseDescriptorTest
{
    private static final int AT = 8;
    private static final int BYTES = EnterLeaseDescriptor.LENGTH_BYTES;
    private static final ViewAttempt ATTEMPT = new ViewAttempt(0x0807, 0x0102030405060708L, 0x1112);
    private static final MirroredChunk CHUNK =
        new MirroredChunk(0x0807, 0x2122232425262728L, 0x31323334, 0x41424344, 0x3152535455565758L);
    private static final PeerIdentity OWNER = new PeerIdentity(0x6162, 0x71727374);
    private static final PeerIdentity REAPER = new PeerIdentity(0x0A0B, 0x0C0D);

    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[AT + BYTES]);

    private void record(final EnteredLease lease)
    {
        // What was there before must not show through.
        buffer.setMemory(0, buffer.capacity(), (byte)0xEE);
        assertThat(EnterLeaseDescriptor.encodeRecord(ATTEMPT, lease, buffer, AT)).isEqualTo(BYTES);
    }

    private static EnteredLease lease(final int state, final PeerIdentity owner, final PeerIdentity reaper)
    {
        return new EnteredLease(CHUNK, state, -9, owner, reaper);
    }

    private String hex()
    {
        return HexFormat.of().formatHex(buffer.byteArray(), AT, AT + BYTES);
    }

    private void shouldRefuse(final String... texts)
    {
        assertThatThrownBy(() ->
        {
            EnterLeaseDescriptor.attempt(buffer, AT, BYTES);
            EnterLeaseDescriptor.lease(buffer, AT);
        }).isInstanceOfSatisfying(ControlException.class,
            (refused) -> assertThat(refused.status()).isEqualTo(ControlStatus.INVALID_REQUEST))
            .hasMessageContainingAll(texts);
    }

    @Test
    void shouldDocumentEveryByte() throws IOException
    {
        FormatPage.of("view-messages.md").shouldAgreeWith(EnterLeaseDescriptor.class);
    }

    @Test
    void shouldWriteTheseBytes()
    {
        record(lease(EnteredLease.ORPHAN, OWNER, REAPER));
        assertThat(hex()).isEqualTo("0807060504030201" + "0708000012110000" + "0200" + "0300" + "34333231" +
            "44434241" + "00000000" + "2827262524232221" + "5857565554535231" + "f7ffffffffffffff" +
            "6261000074737271" + "0b0a00000d0c0000");
        buffer.setMemory(0, buffer.capacity(), (byte)0xEE);
        assertThat(EnterLeaseDescriptor.encodeRelease(ATTEMPT, buffer, AT)).isEqualTo(BYTES);
        assertThat(hex()).isEqualTo("0807060504030201" + "0708000012110000" + "01" + "00".repeat(BYTES - 17));
        assertThat(EnterLeaseDescriptor.attempt(buffer, AT, BYTES)).isEqualTo(ATTEMPT);
        assertThat(EnterLeaseDescriptor.isRelease(buffer, AT)).isTrue();
        for (int cut = 0; cut < BYTES; cut++)
        {
            final int lengthBytes = cut;
            assertThatThrownBy(() -> EnterLeaseDescriptor.attempt(buffer, AT, lengthBytes))
                .isInstanceOf(ControlException.class).hasMessageContaining("of " + cut + " bytes, needs " + BYTES);
        }
    }

    @Test
    void shouldReadWhatItWrote()
    {
        for (final EnteredLease lease : List.of(lease(EnteredLease.BLOCKS, OWNER, null),
            lease(EnteredLease.INDEX, OWNER, null), lease(EnteredLease.INDEX, null, null),
            lease(EnteredLease.ORPHAN, null, null), lease(EnteredLease.ORPHAN, OWNER, REAPER),
            new EnteredLease(new MirroredChunk(0x0807, 1, 0, 1, 1), EnteredLease.INDEX, 0, null, null),
            new EnteredLease(new MirroredChunk(0x0807, MirroredChunk.MAX_VIEW, Integer.MAX_VALUE, 1,
                MirroredChunk.MAX_COUNT), EnteredLease.INDEX, 0, null, null)))
        {
            record(lease);
            assertThat(EnterLeaseDescriptor.attempt(buffer, AT, BYTES)).isEqualTo(ATTEMPT);
            assertThat(EnterLeaseDescriptor.isRelease(buffer, AT)).isFalse();
            assertThat(EnterLeaseDescriptor.lease(buffer, AT)).isEqualTo(lease);
        }
        for (final ViewAttempt most : List.of(new ViewAttempt(1, 1, 1), new ViewAttempt(65_535, 1, 1)))
        {
            EnterLeaseDescriptor.encodeRelease(most, buffer, AT);
            assertThat(EnterLeaseDescriptor.attempt(buffer, AT, BYTES)).isEqualTo(most);
        }
    }

    @Test
    void shouldRefuseAttemptsThatThereCannotBe()
    {
        for (final ViewAttempt wrong : List.of(new ViewAttempt(0, 1, 1), new ViewAttempt(65_536, 1, 1),
            new ViewAttempt(1, 0, 1), new ViewAttempt(1, 1, 0)))
        {
            EnterLeaseDescriptor.encodeRelease(wrong, buffer, AT);
            shouldRefuse(wrong.toString(), "group must be 1 to 65535");
        }
        EnterLeaseDescriptor.encodeRelease(ATTEMPT, buffer, AT);
        for (final int action : new int[]{0, 3, -1})
        {
            buffer.putShort(AT + EnterLeaseDescriptor.ACTION_OFFSET, (short)action);
            shouldRefuse("unknown action", ": " + action);
        }
        assertThatThrownBy(() -> EnterLeaseDescriptor.encodeRecord(
            new ViewAttempt(1, 1, 1), lease(EnteredLease.INDEX, null, null), buffer, AT))
            .isInstanceOf(ControlException.class).hasMessageContaining("is not of the group of");
    }

    @Test
    void shouldRefuseLeasesThatThereCannotBe()
    {
        for (final MirroredChunk wrong : List.of(CHUNK.at(1, 0), CHUNK.at(1, MirroredChunk.MAX_COUNT + 1),
            CHUNK.at(-1, 1), new MirroredChunk(0x0807, 0, 1, 1, 1),
            new MirroredChunk(0x0807, MirroredChunk.MAX_VIEW + 1, 1, 1, 1)))
        {
            record(new EnteredLease(wrong, EnteredLease.INDEX, 1, null, null));
            shouldRefuse(wrong.toString(), "and the chunk 0 or more");
        }
        for (final int state : new int[]{0, 4, -1})
        {
            record(lease(state, OWNER, null));
            shouldRefuse(CHUNK.toString(), "state=" + state + " must be 1 to 3");
        }
        record(lease(EnteredLease.BLOCKS, null, null));
        shouldRefuse("state=1 owner=null", "blocks have an owner");
        record(lease(EnteredLease.BLOCKS, OWNER, REAPER));
        shouldRefuse("reaper=" + REAPER, "only orphans a reaper");
        record(lease(EnteredLease.INDEX, OWNER, REAPER));
        shouldRefuse("state=2", "only orphans a reaper");
    }
}
