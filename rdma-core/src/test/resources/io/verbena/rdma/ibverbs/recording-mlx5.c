/*
 * Stands for libmlx5 and libibverbs in Mlx5DowncallTest: writes down each call as a line. The types are those of the
 * real headers, so that a pointer or argument at another place shows.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

static char lines[1 << 16];
static size_t used;
static int result;
static int quiet;
static struct ibv_qp_ex extended;
static struct mlx5dv_qp_ex special;

static void record(const char *format, ...)
{
    va_list arguments;
    if (quiet)
        return;
    va_start(arguments, format);
    used += vsnprintf(lines + used, sizeof(lines) - used, format, arguments);
    va_end(arguments);
}

/* What was recorded since the last time. */
const char *recorded(void)
{
    lines[used] = 0;
    used = 0;
    return lines;
}

void answer(int errno_value)
{
    result = errno_value;
}

void be_quiet(int value)
{
    quiet = value;
}

static void request(struct ibv_qp_ex *qp)
{
    if (qp != &extended)
        record("WRONG QUEUE PAIR ");
    record("id=%" PRIx64 " flags=%x ", qp->wr_id, qp->wr_flags);
}

static void start(struct ibv_qp_ex *qp)
{
    record(qp == &extended ? "start\n" : "WRONG QUEUE PAIR\n");
}

static int complete(struct ibv_qp_ex *qp)
{
    record(qp == &extended ? "complete\n" : "WRONG QUEUE PAIR\n");
    return result;
}

static void rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t address)
{
    request(qp);
    record("read rkey=%x address=%" PRIx64 "\n", rkey, address);
}

static void rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t address)
{
    request(qp);
    record("write rkey=%x address=%" PRIx64 "\n", rkey, address);
}

static void rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t address, __be32 immediate)
{
    request(qp);
    record("write rkey=%x address=%" PRIx64 " immediate=%x\n", rkey, address, ntohl(immediate));
}

static void send_plain(struct ibv_qp_ex *qp)
{
    request(qp);
    record("send\n");
}

static void send_imm(struct ibv_qp_ex *qp, __be32 immediate)
{
    request(qp);
    record("send immediate=%x\n", ntohl(immediate));
}

static void compare_swap(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t address, uint64_t compare, uint64_t swap)
{
    request(qp);
    record("compare rkey=%x address=%" PRIx64 " with=%" PRIx64 " swap=%" PRIx64 "\n", rkey, address, compare, swap);
}

static void fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t address, uint64_t addend)
{
    request(qp);
    record("add rkey=%x address=%" PRIx64 " addend=%" PRIx64 "\n", rkey, address, addend);
}

static void set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t address, uint32_t length)
{
    record("sge lkey=%x address=%" PRIx64 " length=%u\n", lkey, address, length);
}

static void set_sge_list(struct ibv_qp_ex *qp, size_t count, const struct ibv_sge *list)
{
    record("list of %zu\n", count);
    for (size_t i = 0; i < count; i++)
        set_sge(qp, list[i].lkey, list[i].addr, list[i].length);
}

static void set_inline(struct ibv_qp_ex *qp, void *address, size_t length)
{
    record("inline '%s' length=%zu\n", (const char *)address, length);
}

static void set_target(struct mlx5dv_qp_ex *qp, struct ibv_ah *ah, uint32_t number, uint64_t key)
{
    if (qp != &special)
        record("WRONG QUEUE PAIR ");
    record("target ah=%" PRIxPTR " dctn=%x key=%" PRIx64 "\n", (uintptr_t)ah, number, key);
}

bool mlx5dv_is_supported(struct ibv_device *device)
{
    return (uintptr_t)device == 0x1000;
}

struct ibv_qp *mlx5dv_create_qp(
    struct ibv_context *context, struct ibv_qp_init_attr_ex *general, struct mlx5dv_qp_init_attr *own)
{
    record("create context=%" PRIxPTR " pd=%" PRIxPTR " send_cq=%" PRIxPTR " recv_cq=%" PRIxPTR " srq=%" PRIxPTR " ",
        (uintptr_t)context, (uintptr_t)general->pd, (uintptr_t)general->send_cq, (uintptr_t)general->recv_cq,
        (uintptr_t)general->srq);
    record("type=%x comp_mask=%x ops=%" PRIx64 " ", general->qp_type, general->comp_mask, general->send_ops_flags);
    record("max_send_wr=%u max_send_sge=%u max_inline_data=%u ", general->cap.max_send_wr, general->cap.max_send_sge,
        general->cap.max_inline_data);
    record("max_recv_wr=%u max_recv_sge=%u sq_sig_all=%d ", general->cap.max_recv_wr, general->cap.max_recv_sge,
        general->sq_sig_all);
    record("dv_mask=%" PRIx64 " dc_type=%x access_key=%" PRIx64 "\n", own->comp_mask, own->dc_init_attr.dc_type,
        own->dc_init_attr.dct_access_key);
    if (result != 0)
    {
        errno = result;
        return NULL;
    }
    extended.wr_start = start;
    extended.wr_complete = complete;
    extended.wr_rdma_read = rdma_read;
    extended.wr_rdma_write = rdma_write;
    extended.wr_rdma_write_imm = rdma_write_imm;
    extended.wr_send = send_plain;
    extended.wr_send_imm = send_imm;
    extended.wr_atomic_cmp_swp = compare_swap;
    extended.wr_atomic_fetch_add = fetch_add;
    extended.wr_set_sge = set_sge;
    extended.wr_set_sge_list = set_sge_list;
    extended.wr_set_inline_data = set_inline;
    special.wr_set_dc_addr = set_target;
    return &extended.qp_base;
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
    return qp == &extended.qp_base ? &extended : NULL;
}

struct mlx5dv_qp_ex *mlx5dv_qp_ex_from_ibv_qp_ex(struct ibv_qp_ex *qp)
{
    return qp == &extended ? &special : NULL;
}
