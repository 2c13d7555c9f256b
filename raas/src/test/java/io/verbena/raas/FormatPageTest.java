package io.verbena.raas;

import io.verbena.raas.directory.DirectoryViewDescriptor;
import io.verbena.raas.directory.PeerRecordDescriptor;
import org.junit.jupiter.api.Test;

import java.io.IOException;

import static org.assertj.core.api.Assertions.assertThat;

class FormatPageTest
{
    @Test
    void shouldDocumentTheImmediate() throws IOException
    {
        new FormatPage("immediate.md").shouldAgreeWith(MessageImmediateDescriptor.class);
    }

    @Test
    void shouldDocumentMessagesAndConnectData() throws IOException
    {
        final FormatPage page = new FormatPage("rpc-message.md");
        page.shouldAgreeWith(MessageHeaderDescriptor.class);
        assertThat(page.text()).contains("up to " + RpcClient.MAX_MESSAGE_BYTES + " bytes");
        new FormatPage("connect-data.md").shouldAgreeWith(ConnectDataDescriptor.class);
    }

    @Test
    void shouldDocumentTheDirectory() throws IOException
    {
        final FormatPage page = new FormatPage("peer-directory.md");
        page.shouldAgreeWith(PeerRecordDescriptor.class);
        page.shouldAgreeWith(DirectoryViewDescriptor.class);
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
