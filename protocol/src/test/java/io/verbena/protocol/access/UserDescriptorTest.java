package io.verbena.protocol.access;

import io.verbena.test.FormatPage;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class UserDescriptorTest
{
    private static final SecretVerifier VERIFIER = SecretVerifier.ofNobody(new byte[32], "ann");
    private static final User ANN = new User("ann", 7, 8, 9, VERIFIER, List.of(
        new Grant("orders", 3, new byte[0]), new Grant(Grant.ALL_TABLES, 4, new byte[]{1, 2})));
    private static final UserQuota QUOTA = new UserQuota(1_000, 1 << 20, 32, 1, 0);

    private static final UserQuota WITH_TABLES = new UserQuota(0, 0, 0, 0, 3);

    private static byte[] encoded(final User user)
    {
        final byte[] bytes = new byte[UserDescriptor.lengthBytes(user)];
        assertThat(UserDescriptor.encode(user, new UnsafeBuffer(bytes), 0)).isEqualTo(bytes.length);
        return bytes;
    }

    private static User decoded(final byte[] bytes)
    {
        return UserDescriptor.decode(new UnsafeBuffer(bytes), 0, bytes.length);
    }

    @Test
    void shouldAgreeWithItsPage() throws IOException
    {
        FormatPage.of("user.md").shouldAgreeWith(UserDescriptor.class);
    }

    @Test
    void shouldReadBackWhatWasWritten()
    {
        assertThat(decoded(encoded(ANN))).isEqualTo(ANN);
        assertThat(decoded(encoded(ANN.withoutVerifier()))).isEqualTo(ANN.withoutVerifier());
        assertThat(decoded(encoded(ANN.withQuota(QUOTA)))).isEqualTo(ANN.withQuota(QUOTA));
        assertThat(decoded(encoded(ANN.withQuota(WITH_TABLES)))).isEqualTo(ANN.withQuota(WITH_TABLES));
        final List<Grant> most = new ArrayList<>();
        for (int i = 0; i < User.MAX_GRANTS; i++)
        {
            most.add(new Grant("t".repeat(126) + (10 + i), TableRight.ALL, new byte[User.MAX_PREFIX_BYTES]));
        }
        final User longest = new User("a".repeat(User.MAX_NAME_LENGTH), 0xFFFF, -1, -1, VERIFIER, most, WITH_TABLES);
        assertThat(decoded(encoded(longest))).isEqualTo(longest);
        assertThat(encoded(longest).length).isLessThanOrEqualTo(UserDescriptor.MAX_LENGTH_BYTES);
    }

    @Test
    void shouldWriteTheseBytes()
    {
        assertThat(HexFormat.of().formatHex(encoded(new User("ann", 7, 8, 9, null, List.of(
            new Grant("t", 3, new byte[]{5})))))).isEqualTo(
            "0900000000000000" + "07000000" + "08000000" + "00000000" + "0300" + "0100" + "00".repeat(80) + "616e6e" +
            "0300" + "0100" + "0100" + "74" + "05");
    }

    @Test
    void shouldWriteTheQuotaBehindTheGrants()
    {
        final String bare = HexFormat.of().formatHex(encoded(ANN));
        assertThat(HexFormat.of().formatHex(encoded(ANN.withQuota(QUOTA)))).isEqualTo(
            bare + "e803000000000000" + "0000100000000000" + "20000000" + "01000000");
        assertThat(HexFormat.of().formatHex(encoded(ANN.withQuota(UserQuota.NONE)))).isEqualTo(bare);
        assertThat(HexFormat.of().formatHex(encoded(ANN.withQuota(WITH_TABLES)))).isEqualTo(
            bare + "00".repeat(24) + "03000000" + "00000000");
    }

    @Test
    void shouldRefuseQuotasThatAreNotPossible()
    {
        for (final UserQuota quota : List.of(new UserQuota(-1, 0, 0, 0, 0), new UserQuota(0, -1, 0, 0, 0),
            new UserQuota(0, 0, -1, 0, 0), new UserQuota(0, 0, 0, -1, 0),
            new UserQuota(UserQuota.MAX_OPERATIONS_PER_SECOND + 1, 0, 0, 0, 0),
            new UserQuota(0, UserQuota.MAX_BYTES_PER_SECOND + 1, 0, 0, 0),
            new UserQuota(0, 0, UserQuota.MAX_OUTSTANDING + 1, 0, 0),
            new UserQuota(0, 0, 0, UserQuota.MAX_OUTSTANDING + 1, 0), new UserQuota(0, 0, 0, 0, -1),
            new UserQuota(0, 0, 0, 0, UserQuota.MAX_TABLES + 1)))
        {
            assertThat(ANN.withQuota(quota).problem()).contains("is not possible").doesNotContain("\n");
            if (quota.tables() < 0)
            {
                continue; // the short form, which has none
            }
            final byte[] bytes = encoded(ANN.withQuota(quota));
            assertThatThrownBy(() -> decoded(bytes)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is not possible");
        }
        final UserQuota most = new UserQuota(UserQuota.MAX_OPERATIONS_PER_SECOND, UserQuota.MAX_BYTES_PER_SECOND,
            UserQuota.MAX_OUTSTANDING, UserQuota.MAX_OUTSTANDING, UserQuota.MAX_TABLES);
        assertThat(decoded(encoded(ANN.withQuota(most))).quota()).isEqualTo(most);
        final byte[] nothing = Arrays.copyOf(encoded(ANN), encoded(ANN).length + UserDescriptor.QUOTA_LENGTH);
        assertThatThrownBy(() -> decoded(nothing)).as("a quota without limits").hasMessageContaining("length");
        final byte[] noTables =
            Arrays.copyOf(encoded(ANN.withQuota(QUOTA)), encoded(ANN.withQuota(WITH_TABLES)).length);
        assertThatThrownBy(() -> decoded(noTables)).as("no tables, in the long form").hasMessageContaining("length");
        final byte[] more = encoded(ANN.withQuota(WITH_TABLES));
        more[more.length - 1] = 1;
        assertThatThrownBy(() -> decoded(more)).hasMessageContaining("behind its quota");
    }

    @Test
    void shouldSayWhatAQuotaLimits()
    {
        assertThat(WITH_TABLES).hasToString("quota: 3 tables");
        assertThat(new UserQuota(0, 0, 0, 2, 3)).hasToString("quota: 3 tables; at each compute node 2 scans at once");
        assertThat(QUOTA).hasToString("quota: at each compute node 1000 operations a second, " +
            "1048576 bytes a second, 32 outstanding requests, 1 scans at once");
        assertThat(UserQuota.NONE).hasToString("no quota");
        assertThat(ANN.withQuota(QUOTA).withGrants(List.of()).quota()).isEqualTo(QUOTA);
        assertThat(ANN.withQuota(QUOTA).withVerifier(null).quota()).isEqualTo(QUOTA);
        assertThat(ANN.withQuota(QUOTA).withoutVerifier().quota()).isEqualTo(QUOTA);
    }

    @Test
    void shouldRefuseWhatIsCutShortOrHasMore()
    {
        refuseWhatIsCutShortOrHasMore(encoded(ANN));
        // Without its last bytes it is one without a quota.
        refuseWhatIsCutShortOrHasMore(encoded(ANN.withQuota(QUOTA)), encoded(ANN).length);
        refuseWhatIsCutShortOrHasMore(
            encoded(ANN.withQuota(new UserQuota(1, 0, 0, 0, 3))), encoded(ANN).length,
            encoded(ANN.withQuota(QUOTA)).length);
    }

    private static void refuseWhatIsCutShortOrHasMore(final byte[] whole, final int... wholeToo)
    {
        for (int length = 0; length < whole.length; length++)
        {
            final int cut = length;
            if (Arrays.stream(wholeToo).anyMatch((too) -> too == cut))
            {
                continue;
            }
            assertThatThrownBy(() -> UserDescriptor.decode(new UnsafeBuffer(whole), 0, cut))
                .as("%d bytes", length).isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> decoded(Arrays.copyOf(whole, whole.length + 1)))
            .isInstanceOf(IllegalArgumentException.class);
    }

    /** Any bytes are a user without a problem, or refused with one line; nothing else happens. */
    @Test
    void shouldRefuseOrReadWhatIsChangedAnyhow()
    {
        final SplittableRandom random = new SplittableRandom(20);
        final byte[] whole = encoded(ANN.withQuota(QUOTA));
        final int rounds = Integer.getInteger("verbena.fuzz.messages", 20_000);
        int read = 0;
        for (int i = 0; i < rounds; i++)
        {
            final byte[] changed = whole.clone();
            for (int changes = random.nextInt(1, 4); changes > 0; changes--)
            {
                changed[random.nextInt(changed.length)] = (byte)random.nextInt();
            }
            try
            {
                assertThat(decoded(changed).problem()).isNull();
                read++;
            }
            catch (final IllegalArgumentException ex)
            {
                assertThat(ex.getMessage()).doesNotContain("\n");
            }
        }
        assertThat(read).as("read all the same").isBetween(1, rounds - 1);
    }
}
