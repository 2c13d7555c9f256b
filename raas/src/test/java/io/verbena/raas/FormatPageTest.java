package io.verbena.raas;

import io.verbena.raas.encryption.SealedMessageDescriptor;
import io.verbena.raas.directory.DirectoryHeaderDescriptor;
import io.verbena.raas.directory.DirectoryViewDescriptor;
import io.verbena.raas.directory.NamedRecordDescriptor;
import io.verbena.raas.directory.PeerRecordDescriptor;
import io.verbena.raas.message.MessageHeaderDescriptor;
import io.verbena.raas.message.MessageImmediateDescriptor;
import io.verbena.raas.message.OpenMessagesDescriptor;
import io.verbena.test.FormatPage;
import org.junit.jupiter.api.Test;

import java.io.IOException;

import static org.assertj.core.api.Assertions.assertThat;

class FormatPageTest
{
    @Test
    void shouldDocumentTheImmediate() throws IOException
    {
        FormatPage.of("immediate.md").shouldAgreeWith(MessageImmediateDescriptor.class);
        FormatPage.of("open-messages.md").shouldAgreeWith(OpenMessagesDescriptor.class);
    }

    @Test
    void shouldDocumentMessagesAndConnectData() throws IOException
    {
        final FormatPage page = FormatPage.of("rpc-message.md");
        page.shouldAgreeWith(MessageHeaderDescriptor.class);
        assertThat(page.text()).contains("up to " + RpcClient.MAX_MESSAGE_BYTES + " bytes");
        FormatPage.of("connect-data.md").shouldAgreeWith(ConnectDataDescriptor.class);
        FormatPage.of("sealed-message.md").shouldAgreeWith(SealedMessageDescriptor.class);
    }

    @Test
    void shouldDocumentTheDirectory() throws IOException
    {
        final FormatPage page = FormatPage.of("peer-directory.md");
        page.shouldAgreeWith(PeerRecordDescriptor.class);
        page.shouldAgreeWith(DirectoryViewDescriptor.class);
        page.shouldAgreeWith(DirectoryHeaderDescriptor.class);
        page.shouldAgreeWith(NamedRecordDescriptor.class);
    }

    @Test
    void shouldPackTheImmediateWithoutOverlap()
    {
        final int immediate = MessageImmediateDescriptor.encode(
            MessageImmediateDescriptor.KIND_REFUSAL, 0x7FFF_FABC, 65_535);
        assertThat(Integer.toHexString(immediate)).isEqualTo("3abcffff");
        assertThat(MessageImmediateDescriptor.kind(immediate)).isEqualTo(3);
        assertThat(MessageImmediateDescriptor.generation(immediate)).isEqualTo(0xABC);
        assertThat(MessageImmediateDescriptor.slot(immediate)).isEqualTo(65_535);
        assertThat(MessageImmediateDescriptor.kind(0xFFFF_FFFF)).isEqualTo(15);
    }
}
