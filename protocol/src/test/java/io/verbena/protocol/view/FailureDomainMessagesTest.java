package io.verbena.protocol.view;

import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.FailureDomain;
import io.verbena.protocol.message.FailureDomainPage;
import io.verbena.raas.RpcClient;
import io.verbena.test.FormatPage;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class FailureDomainMessagesTest
{
    private static final int AT = 8;
    private static final String LONGEST = "r" + "-".repeat(62);

    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[RpcClient.MAX_MESSAGE_BYTES]);

    @Test
    void shouldDocumentEveryMessage() throws IOException
    {
        final FormatPage page = FormatPage.of("failure-domain.md");
        page.shouldAgreeWith(FailureDomainDescriptor.class);
        page.shouldAgreeWith(FailureDomainPageDescriptor.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-a", ".a", "_a", "a b", "a/b", "\u00e4", "a\n"})
    void shouldRefuseWhatIsNoLabel(final String text)
    {
        assertThat(FailureDomain.isLabel(text)).isFalse();
        assertThatThrownBy(() -> new FailureDomain(1, text)).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "9", "Zone.eu_1-b", LONGEST_LABEL})
    void shouldReadTheLabelThatItWrote(final String text)
    {
        assertThat(FailureDomain.isLabel(text)).isTrue();
        buffer.setMemory(0, 128, (byte)0xEE);
        FailureDomainDescriptor.encode(text, buffer, AT);
        assertThat(FailureDomainDescriptor.decode(buffer, AT)).isEqualTo(text);
        assertThat(buffer.getByte(AT + FailureDomainDescriptor.LENGTH_BYTES)).isEqualTo((byte)0xEE);
    }

    private static final String LONGEST_LABEL = "r23456789012345678901234567890123456789012345678901234567890123";

    @Test
    void shouldWriteZerosForNone()
    {
        buffer.setMemory(0, 128, (byte)0xEE);
        FailureDomainDescriptor.encode(FailureDomain.NONE, buffer, AT);
        final byte[] bytes = new byte[64];
        buffer.getBytes(AT, bytes);
        assertThat(HexFormat.of().formatHex(bytes)).isEqualTo("00".repeat(64));
        assertThat(FailureDomainDescriptor.decode(buffer, AT)).isEmpty();
    }

    @Test
    void shouldRefuseALabelThatIsTooLongOrNone()
    {
        assertThat(LONGEST).hasSize(FailureDomain.MAX_LABEL_LENGTH);
        assertThat(FailureDomain.isLabel(LONGEST)).isTrue();
        assertThat(FailureDomain.isLabel(LONGEST + 'x')).isFalse();
        assertThatThrownBy(() -> FailureDomainDescriptor.encode(LONGEST + 'x', buffer, AT))
            .isInstanceOf(IllegalArgumentException.class);
        FailureDomainDescriptor.encode("rack", buffer, AT);
        buffer.putByte(AT, (byte)64);
        assertThatThrownBy(() -> FailureDomainDescriptor.decode(buffer, AT)).hasMessageContaining("length=64");
        buffer.putByte(AT, (byte)5);
        assertThatThrownBy(() -> FailureDomainDescriptor.decode(buffer, AT)).hasMessageContaining("5 bytes");
    }

    @Test
    void shouldReadThePageThatItWrote()
    {
        final FailureDomainPage page =
            new FailureDomainPage(List.of(new FailureDomain(3, "a"), new FailureDomain(65_535, "b")), true);
        final int lengthBytes = FailureDomainPageDescriptor.encode(page, buffer, AT);
        assertThat(lengthBytes).isEqualTo(8 + 2 * 68);
        assertThat(FailureDomainPageDescriptor.decode(buffer, AT, lengthBytes)).isEqualTo(page);
        assertThatThrownBy(() -> FailureDomainPageDescriptor.decode(buffer, AT, lengthBytes - 1))
            .isInstanceOf(ControlException.class).hasMessageContaining("needs " + lengthBytes);
        buffer.putInt(AT + FailureDomainPageDescriptor.DOMAINS_OFFSET, 0);
        assertThatThrownBy(() -> FailureDomainPageDescriptor.decode(buffer, AT, lengthBytes))
            .isInstanceOf(ControlException.class).hasMessageContaining("node=0");
        assertThat(FailureDomainPageDescriptor.encodeRequest(7, buffer, AT)).isEqualTo(8);
        assertThat(FailureDomainPageDescriptor.decodeRequest(buffer, AT, 8)).isEqualTo(7);
        assertThatThrownBy(() -> FailureDomainPageDescriptor.decodeRequest(buffer, AT, 7))
            .isInstanceOf(ControlException.class);
    }

    @Test
    void shouldSayThatThereIsMoreWhereNotAllFit()
    {
        final List<FailureDomain> all =
            IntStream.rangeClosed(1, 61).mapToObj((id) -> new FailureDomain(id, "rack-" + id)).toList();
        int lengthBytes = FailureDomainPageDescriptor.encode(new FailureDomainPage(all, false), buffer, AT);
        FailureDomainPage page = FailureDomainPageDescriptor.decode(buffer, AT, lengthBytes);
        assertThat(AT + lengthBytes).isLessThanOrEqualTo(RpcClient.MAX_MESSAGE_BYTES);
        assertThat(page.hasMore()).isTrue();
        assertThat(page.domains()).hasSize(60).isEqualTo(all.subList(0, 60));
        lengthBytes = FailureDomainPageDescriptor.encode(
            new FailureDomainPage(all.subList(0, 60), false), buffer, AT);
        page = FailureDomainPageDescriptor.decode(buffer, AT, lengthBytes);
        assertThat(page.hasMore()).isFalse();
    }
}
