package io.verbena.rdma.ibverbs.library;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.util.List;

import static io.verbena.rdma.ibverbs.library.VerbsLayouts.pointer;
import static io.verbena.rdma.ibverbs.library.VerbsLayouts.skip;
import static io.verbena.rdma.ibverbs.library.VerbsLayouts.struct;
import static io.verbena.rdma.ibverbs.library.VerbsLayouts.u16;
import static io.verbena.rdma.ibverbs.library.VerbsLayouts.u32;
import static io.verbena.rdma.ibverbs.library.VerbsLayouts.u64;
import static io.verbena.rdma.ibverbs.library.VerbsLayouts.u8;

/**
 * The structures of {@code infiniband/mlx5dv.h} (ABI of libmlx5.so.1) that DC takes, and those of
 * {@code infiniband/verbs.h} for requests that are built by calls; otherwise as {@link VerbsLayouts}.
 */
public final class Mlx5Layouts
{
    public static final StructLayout IBV_RX_HASH_CONF = struct("ibv_rx_hash_conf",
        u8("rx_hash_function"), u8("rx_hash_key_len"), pointer("rx_hash_key"), u64("rx_hash_fields_mask"));
    public static final StructLayout IBV_QP_INIT_ATTR_EX = struct("ibv_qp_init_attr_ex",
        pointer("qp_context"), pointer("send_cq"), pointer("recv_cq"), pointer("srq"),
        VerbsLayouts.IBV_QP_CAP.withName("cap"), u32("qp_type"), u32("sq_sig_all"), u32("comp_mask"), pointer("pd"),
        pointer("xrcd"), u32("create_flags"), u16("max_tso_header"), pointer("rwq_ind_tbl"),
        IBV_RX_HASH_CONF.withName("rx_hash_conf"), u32("source_qpn"), u64("send_ops_flags"));
    /** All of {@link VerbsLayouts#IBV_QP}, as something follows it. */
    public static final StructLayout IBV_QP_BASE = struct("ibv_qp",
        pointer("context"), pointer("qp_context"), pointer("pd"), pointer("send_cq"), pointer("recv_cq"),
        pointer("srq"), u32("handle"), u32("qp_num"), u32("state"), u32("qp_type"), words("mutex", mutexWords()),
        words("cond", 6), u32("events_completed"));
    public static final StructLayout IBV_QP_EX = struct("ibv_qp_ex",
        IBV_QP_BASE.withName("qp_base"), u64("comp_mask"), u64("wr_id"), u32("wr_flags"), pointer("wr_atomic_cmp_swp"),
        pointer("wr_atomic_fetch_add"), skip(2), pointer("wr_rdma_read"), pointer("wr_rdma_write"),
        pointer("wr_rdma_write_imm"), pointer("wr_send"), pointer("wr_send_imm"), skip(4),
        pointer("wr_set_inline_data"), skip(1), pointer("wr_set_sge"), pointer("wr_set_sge_list"), pointer("wr_start"),
        pointer("wr_complete"));
    public static final StructLayout MLX5DV_DC_INIT_ATTR = struct("mlx5dv_dc_init_attr",
        // The key lies in a union with the streams of an initiator, which are not used.
        u32("dc_type"), u64("dct_access_key"));
    public static final StructLayout MLX5DV_QP_INIT_ATTR = struct("mlx5dv_qp_init_attr",
        u64("comp_mask"), u32("create_flags"), MLX5DV_DC_INIT_ATTR.withName("dc_init_attr"), u64("send_ops_flags"));
    public static final StructLayout MLX5DV_QP_EX = struct("mlx5dv_qp_ex", u64("comp_mask"), pointer("wr_set_dc_addr"));

    /** Every layout above. */
    public static final List<StructLayout> ALL = List.of(
        IBV_RX_HASH_CONF, IBV_QP_INIT_ATTR_EX, IBV_QP_BASE, IBV_QP_EX, MLX5DV_DC_INIT_ATTR, MLX5DV_QP_INIT_ATTR,
        MLX5DV_QP_EX);
    /** Made by the library and read here up to some field. */
    public static final List<StructLayout> PREFIXES = List.of(IBV_QP_EX, MLX5DV_QP_EX);

    private Mlx5Layouts()
    {
    }

    /** Types of the C library that are only stepped over. */
    private static MemoryLayout words(final String name, final int count)
    {
        return MemoryLayout.sequenceLayout(count, ValueLayout.JAVA_LONG).withName(name);
    }

    /** {@code pthread_mutex_t} of glibc has 48 bytes on AArch64, 40 on the other 64-bit machines. */
    private static int mutexWords()
    {
        return "aarch64".equals(System.getProperty("os.arch")) ? 6 : 5;
    }
}
