-- A history of schema 23, from the build of ed7752a9, with only one of its views. It has two trials, a proof for an edit of
-- their attention, a third trial, a second proof that depends on the first for two trials, and a third, withdrawn proof.
BEGIN TRANSACTION;
CREATE TABLE alias (key TEXT PRIMARY KEY, trial INTEGER NOT NULL REFERENCES trial, proof INTEGER NOT NULL REFERENCES proof, basis INTEGER REFERENCES basis, rests_on TEXT, added TEXT) STRICT, WITHOUT ROWID;
INSERT INTO alias VALUES
  ('17af6bcf5c73141f695021105af894e8cf2b3da08647195709106d2689bc9552',1,1,2,NULL,NULL),
  ('5a43848f8aa3116c53b7e3f3c8b93195c38404ccde59149bd80022020ba0ef8c',1,2,3,'17af6bcf5c73141f695021105af894e8cf2b3da08647195709106d2689bc9552',NULL),
  ('60aefa91f70c1534ee8119b6dad67c5533146e3383819eeb0a98fb02392b5fdb',2,2,3,'82149f34ae9807c0978a722907b9b858edd36ef81924fd326ca3a7466fcf178e',NULL),
  ('82149f34ae9807c0978a722907b9b858edd36ef81924fd326ca3a7466fcf178e',2,1,2,NULL,NULL),
  ('9129de7eea83bb72e3cb1bb6bef3ba12cbd828f683557bcfb866f046f59215ed',3,2,3,NULL,NULL);
CREATE TABLE artifact (kind TEXT NOT NULL, name TEXT NOT NULL, attempt INTEGER NOT NULL REFERENCES attempt, bytes INTEGER NOT NULL, of_bytes INTEGER NOT NULL, removed_us INTEGER, PRIMARY KEY (kind, name)) STRICT, WITHOUT ROWID;
CREATE TABLE attempt (id INTEGER PRIMARY KEY, trial INTEGER NOT NULL REFERENCES trial, outcome TEXT NOT NULL, reason TEXT NOT NULL, started_us INTEGER NOT NULL, wall_s REAL NOT NULL, cpu_s REAL NOT NULL, peak_resident_bytes INTEGER NOT NULL, signal INTEGER, exit_code INTEGER, environment INTEGER NOT NULL REFERENCES environment, output TEXT NOT NULL, step INTEGER NOT NULL DEFAULT 0, steps INTEGER NOT NULL DEFAULT 0, main_metric INTEGER REFERENCES metric, uid BLOB NOT NULL DEFAULT x'', turn INTEGER NOT NULL DEFAULT 0, plugin_set INTEGER REFERENCES plugin_set) STRICT;
INSERT INTO attempt VALUES
  (1,1,'done','',1796007323689544,0.085079559,0.021897,105443328,NULL,0,1,'',4,4,11,X'58F1193A1C79EF89D6D53606451D5981',1796007323689544,1),
  (2,2,'done','',1796007323814458,0.083845236,0.021834,105553920,NULL,0,1,'',4,4,11,X'CBEDE3E504ED11CFEF82E927AD51A13A',1796007323814458,1),
  (3,3,'done','',1796007326796041,0.085267824,0.024144,105504768,NULL,0,1,'',4,4,11,X'763B0699866EA1C6C564548E52942F18',1796007326796041,2);
CREATE TABLE audit (digest TEXT NOT NULL, task TEXT NOT NULL, parameters TEXT NOT NULL, suite INTEGER NOT NULL, audited_s INTEGER NOT NULL, verdict TEXT NOT NULL CHECK (verdict IN ('passed', 'failed')), findings TEXT NOT NULL, PRIMARY KEY (digest, task)) STRICT, WITHOUT ROWID;
CREATE TABLE basis (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, json TEXT NOT NULL) STRICT;
INSERT INTO basis VALUES
  (1,'066e97196ab96d890db38770975369e5be8386b59388ce65e7ddeed7fc16ab84','{"data":"copy 1 copying 16 16 64 64 100000 2000 2000 0","kernels":7,"plugins":{"attention":"0486681580bb8efc8737cb640e228b2cea19d97f4dc7fa374712f55bac5d94bf","task":"9652c51ec1139e7c41891107161144e753e4174c9cae9dde785612677e6d30ce"},"runtime":5,"torch":"2.11.0"}'),
  (2,'136e8272e15115003d8937cd7f70abe88265a2535d83ab9bafd74785d8d9c02f','{"data":"copy 1 copying 16 16 64 64 100000 2000 2000 0","kernels":7,"plugins":{"attention":"eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee","task":"9652c51ec1139e7c41891107161144e753e4174c9cae9dde785612677e6d30ce"},"runtime":5,"torch":"2.11.0"}'),
  (3,'b2f08a2853457c1edbef0848cf6be97b45783fb99fc46a22ca1756a22437475f','{"data":"copy 1 copying 16 16 64 64 100000 2000 2000 0","kernels":7,"plugins":{"attention":"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff","task":"9652c51ec1139e7c41891107161144e753e4174c9cae9dde785612677e6d30ce"},"runtime":5,"torch":"2.11.0"}'),
  (4,'e6269b7b27fad58596467b922738c5752d652236028d84f6a798f7d76e6c1b73','{"data":"copy 1 copying 16 16 64 64 100000 2000 2000 0","kernels":7,"plugins":{"attention":"dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd","task":"9652c51ec1139e7c41891107161144e753e4174c9cae9dde785612677e6d30ce"},"runtime":5,"torch":"2.11.0"}');
CREATE TABLE checked_length (kind TEXT NOT NULL, plugin TEXT NOT NULL, code_identity TEXT NOT NULL, place TEXT NOT NULL, suite INTEGER NOT NULL, length INTEGER NOT NULL, PRIMARY KEY (kind, plugin, code_identity, place)) STRICT, WITHOUT ROWID;
CREATE TABLE curve (attempt INTEGER NOT NULL REFERENCES attempt, metric INTEGER NOT NULL REFERENCES metric, step INTEGER NOT NULL, value REAL, PRIMARY KEY (attempt, metric, step)) STRICT, WITHOUT ROWID;
INSERT INTO curve VALUES
  (1,4,1,2.89310097694396972656e+00), (1,4,2,2.78079152107238769531e+00), (1,4,3,2.92514920234680175781e+00), (1,4,4,2.86754870414733886718e+00),
  (1,5,4,7.8125), (1,6,4,0.0), (1,7,4,2.82929658889770507812e+00), (1,8,4,7.8125), (1,9,4,0.0), (1,10,4,2.8292964193969964981e+00),
  (2,4,1,3.05673694610595703125e+00), (2,4,2,2.96797680854797363281e+00), (2,4,3,2.96271181106567382812e+00), (2,4,4,3.0341548919677734375e+00),
  (2,5,4,6.25), (2,6,4,0.0), (2,7,4,2.99723482131958), (2,8,4,6.25), (2,9,4,0.0), (2,10,4,2.99723509885370731353e+00),
  (3,4,1,2.84471940994262695312e+00), (3,4,2,2.78549313545227050781e+00), (3,4,3,2.85629153251647949218e+00), (3,4,4,2.84202289581298828125e+00),
  (3,5,4,4.6875), (3,6,4,0.0), (3,7,4,2.88578295707702636718e+00), (3,8,4,4.6875), (3,9,4,0.0), (3,10,4,2.88578295428305864334e+00);
CREATE TABLE environment (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, json TEXT NOT NULL) STRICT;
INSERT INTO environment VALUES
  (1,'3a38eea81adffc79ce05e2af8d204979ae948769ba97fc7a1225e55c94828c24','{"ablate":"0.1.0","compiler":"12.2.0","cores":2,"cpu_capability":"AVX512","git":"ed7752a9-dirty","gpu_driver":"","gpus":[],"host":"vm","kernels":"avx512","kernels_bfloat16":"avx512","libraries":{"glibc":"2.36","libstdc++":"20220819","mkl":"Intel(R) oneAPI Math Kernel Library Version 2024.2-Product Build 20240605 for Intel(R) 64 architecture applications","onednn":"Intel(R) MKL-DNN v3.10.2 (Git Hash f1d471933dc852f956fd05389f9313c7148783d5)","openmp":"OpenMP 201511 (a.k.a. OpenMP 4.5)"},"processor":"Intel(R) Xeon(R) Processor","run_for":"study","system":"Linux 6.18.44-fc-v669","torch":"2.11.0","variables":{"OMP_WAIT_POLICY":"PASSIVE"}}'),
  (2,'cd09319b2e8827e30fa84740f8909df9af05ff8b0d2624d4f92175df03101e3d','{"ablate":"0.1.0","compiler":"12.2.0","cores":2,"cpu_capability":"AVX512","git":"ed7752a9-dirty","gpu_driver":"","gpus":[],"host":"vm","kernels":"avx512","kernels_bfloat16":"avx512","libraries":{"glibc":"2.36","libstdc++":"20220819","mkl":"Intel(R) oneAPI Math Kernel Library Version 2024.2-Product Build 20240605 for Intel(R) 64 architecture applications","onednn":"Intel(R) MKL-DNN v3.10.2 (Git Hash f1d471933dc852f956fd05389f9313c7148783d5)","openmp":"OpenMP 201511 (a.k.a. OpenMP 4.5)"},"processor":"Intel(R) Xeon(R) Processor","system":"Linux 6.18.44-fc-v669","torch":"2.11.0","variables":{"OMP_WAIT_POLICY":"PASSIVE"}}');
CREATE TABLE experiment (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, description TEXT NOT NULL, file TEXT NOT NULL, text TEXT NOT NULL, overrides TEXT NOT NULL, listed_us INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO experiment VALUES
  (1,'old','of schema 23','/home/user/study.toml','[experiment]
name = "old"
description = "of schema 23"
[task]
plugin = "copy"
[model]
layers = 1
d_model = 8
hidden = 8
[train]
steps = 4
batch = 4
evaluate_every = 4
evaluate_batches = 1
test_batches = 2
[attention]
plugin = "softmax"
[grid]
seeds = [1, 2]
','[]',1796007330682008);
CREATE TABLE experiment_trial (experiment INTEGER NOT NULL REFERENCES experiment, trial INTEGER NOT NULL REFERENCES trial, position INTEGER NOT NULL, listed INTEGER NOT NULL, cell INTEGER, PRIMARY KEY (experiment, trial)) STRICT, WITHOUT ROWID;
INSERT INTO experiment_trial VALUES
  (1,1,0,1,NULL), (1,2,1,1,NULL), (1,3,2,0,NULL);
CREATE TABLE floor (digest TEXT NOT NULL, task TEXT NOT NULL, test_rows INTEGER NOT NULL, train_rows INTEGER NOT NULL, train_lanes INTEGER NOT NULL, version INTEGER NOT NULL, found_s INTEGER NOT NULL, metric TEXT NOT NULL, examples INTEGER NOT NULL, train_size INTEGER NOT NULL, seen INTEGER NOT NULL, floors TEXT NOT NULL, left_out TEXT NOT NULL, PRIMARY KEY (digest, task, test_rows, train_rows, train_lanes)) STRICT, WITHOUT ROWID;
CREATE TABLE key_part (trial INTEGER PRIMARY KEY REFERENCES trial, basis INTEGER NOT NULL REFERENCES basis, settings_hash INTEGER NOT NULL, settings TEXT NOT NULL) STRICT;
INSERT INTO key_part VALUES
  (1,1,-1155395669565546470,'{"attention.plugin":"softmax","model.d_model":8,"model.hidden":8,"model.layers":1,"seed":1,"task.plugin":"copy","train.batch":4,"train.evaluate_batches":1,"train.evaluate_every":4,"train.steps":4,"train.test_batches":2}'),
  (2,1,1821331624062755381,'{"attention.plugin":"softmax","model.d_model":8,"model.hidden":8,"model.layers":1,"seed":2,"task.plugin":"copy","train.batch":4,"train.evaluate_batches":1,"train.evaluate_every":4,"train.steps":4,"train.test_batches":2}'),
  (3,2,3692885060398700821,'{"attention.plugin":"softmax","model.d_model":8,"model.hidden":8,"model.layers":1,"seed":3,"task.plugin":"copy","train.batch":4,"train.evaluate_batches":1,"train.evaluate_every":4,"train.steps":4,"train.test_batches":2}');
CREATE TABLE lease (fence INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, slot INTEGER NOT NULL, outcome TEXT) STRICT;
INSERT INTO lease VALUES
  (1,'4300f6c4c34438e857627178401c9a8bcb1cff4e7e954d6db9f060a191039fc5',1,'done'),
  (2,'54c914aecde5bb6e1e75ffa518fbcd51621fe8bcdef202090dfa047ff7fd127c',1,'done'),
  (3,'efeff17286f537ed4bf8561027bca83120c4a7c020a3f25f71a82b9f96cf7cc2',2,'done');
CREATE TABLE lease_owner (slot INTEGER PRIMARY KEY AUTOINCREMENT, host TEXT NOT NULL, process INTEGER NOT NULL, started INTEGER NOT NULL, space TEXT NOT NULL, worker INTEGER NOT NULL DEFAULT 0, worker_started INTEGER NOT NULL DEFAULT 0, heard_us INTEGER NOT NULL) STRICT;
CREATE TABLE metric (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, unit TEXT NOT NULL, direction TEXT NOT NULL CHECK (direction IN ('max', 'min', '')), description TEXT NOT NULL, kind TEXT NOT NULL DEFAULT 'score' CHECK (kind IN ('score', 'cost', 'count')), owner TEXT NOT NULL DEFAULT 'task' CHECK (owner IN ('task', 'method', 'host')), of_steps INTEGER NOT NULL DEFAULT 0 CHECK (of_steps IN (0, 1))) STRICT;
INSERT INTO metric VALUES
  (1,'memory/peak_resident','MiB','min','most resident memory of the trial''s process, as the kernel counts it','cost','host',0),
  (2,'time/cpu','s','min','processor time of the trial''s process, user and system','cost','host',0),
  (3,'time/wall','s','min','time from the start of the trial''s process to its end','cost','host',0),
  (4,'train/loss','','min','mean training loss over the last window of its curve: each of at most 200 points is the mean since the last one','score','task',0),
  (5,'dev/accuracy','%','max','share of targets met','score','task',0),
  (6,'dev/sequence_accuracy','%','max','share of sequences whose targets are all met','score','task',0),
  (7,'dev/loss','','min','mean cross-entropy of the targets, in nats','score','task',0),
  (8,'dev/accuracy@length=64','%','max','share of targets met, of the examples with length=64','score','task',0),
  (9,'dev/sequence_accuracy@length=64','%','max','share of sequences whose targets are all met, of the examples with length=64','score','task',0),
  (10,'dev/loss@length=64','','min','mean cross-entropy of the targets, in nats, of the examples with length=64','score','task',0),
  (11,'test/accuracy','%','max','share of targets met','score','task',0),
  (12,'test/sequence_accuracy','%','max','share of sequences whose targets are all met','score','task',0),
  (13,'test/loss','','min','mean cross-entropy of the targets, in nats','score','task',0),
  (14,'test/accuracy@length=64','%','max','share of targets met, of the examples with length=64','score','task',0),
  (15,'test/sequence_accuracy@length=64','%','max','share of sequences whose targets are all met, of the examples with length=64','score','task',0),
  (16,'test/loss@length=64','','min','mean cross-entropy of the targets, in nats, of the examples with length=64','score','task',0),
  (17,'dev/best_step','steps','','the step of the best weights: the first of the best on dev in the task''s first metric','count','host',0),
  (18,'train/forward_time','ms','min','median time of a training step up to its loss: batch and forward pass','cost','host',1),
  (19,'train/forward_backward_time','ms','min','median time of a training step up to its gradients','cost','host',1),
  (20,'train/step_time','ms','min','median time of a training step: batch, forward, backward, optimiser','cost','host',1),
  (21,'train/step_cpu_time','ms','min','median processor time of a training step, all threads of the process together','cost','host',1),
  (22,'train/step_spread','%','','how far steps'' times lie apart: the middle half of them over their median, without the first step','cost','host',0),
  (23,'train/examples_per_second','examples/s','max','batch size over the median step time','cost','host',1),
  (24,'train/replayed_steps','steps','','training steps that were replayed from CUDA graphs, of trials that ask for it (train.graphs)','count','host',0),
  (25,'model/parameters','','min','trained numbers of the whole model','count','host',0),
  (26,'memory/peak_tensor','MiB','min','most memory that tensors held at once in training steps: weights, optimiser and activations','cost','host',0),
  (27,'memory/state','MiB','min','what all layers together hand on from a segment to the next, of one sequence, at the end of training; of models that do','cost','host',0);
CREATE TABLE note (id INTEGER PRIMARY KEY, experiment INTEGER NOT NULL REFERENCES experiment, written_us INTEGER NOT NULL, text TEXT NOT NULL) STRICT;
CREATE TABLE parameter (path INTEGER NOT NULL REFERENCES path, setting INTEGER NOT NULL REFERENCES setting, value INTEGER NOT NULL REFERENCES value, PRIMARY KEY (path, setting)) STRICT, WITHOUT ROWID;
INSERT INTO parameter VALUES
  (2,1,2), (3,1,3), (4,1,4), (5,1,5), (6,1,6), (7,1,7), (8,1,8), (9,1,9), (10,1,10), (11,1,11), (12,1,12), (13,1,13), (14,1,14), (15,1,15), (16,1,16),
  (17,1,17), (18,1,18), (19,1,19), (20,1,20), (21,1,21), (22,1,22), (23,1,23), (24,1,24), (25,1,25), (26,1,26), (27,1,27), (28,1,28), (29,1,29),
  (30,1,30), (31,1,31), (32,1,32), (33,1,33), (34,1,34), (35,1,35), (36,1,36), (37,1,37), (38,1,38), (39,1,39), (40,1,40), (41,1,41), (42,1,42),
  (43,1,43), (44,1,44), (45,1,45), (46,1,46), (47,1,47), (48,1,48), (49,1,49), (50,1,50), (51,1,51), (52,1,52), (53,1,53), (54,1,54), (55,1,55),
  (56,1,56), (57,1,57), (58,1,58), (59,1,59), (60,1,60), (61,1,61), (62,1,62), (63,1,63), (64,1,64), (65,1,65), (66,1,66), (67,1,67), (68,1,68),
  (69,1,69);
CREATE TABLE path (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO path VALUES
  (1,'seed'), (2,'attention'), (3,'attention.forget_gate'), (4,'attention.gate'), (5,'attention.heads'), (6,'attention.key_value_heads'),
  (7,'attention.latent'), (8,'attention.qk_norm'), (9,'attention.sink'), (10,'attention.span_examples'), (11,'model.activation'),
  (12,'model.attention_dropout'), (13,'model.attention_width'), (14,'model.causal'), (15,'model.classifier'), (16,'model.classifier_hidden'),
  (17,'model.cut'), (18,'model.d_model'), (19,'model.dropout'), (20,'model.feed_forward'), (21,'model.hidden'), (22,'model.inner_dropout'),
  (23,'model.layers'), (24,'model.norm'), (25,'model.norm_type'), (26,'model.pooling'), (27,'model.positions'), (28,'model.segment'),
  (29,'model.tied_output'), (30,'task'), (31,'task.copied'), (32,'task.data_seed'), (33,'task.dev'), (34,'task.kind'), (35,'task.length'),
  (36,'task.test'), (37,'task.test_length'), (38,'task.train'), (39,'task.vocabulary'), (40,'train.accumulate'), (41,'train.batch'),
  (42,'train.beta1'), (43,'train.beta1_low'), (44,'train.beta2'), (45,'train.clip'), (46,'train.cooldown'), (47,'train.cooldown_shape'),
  (48,'train.cosine_floor'), (49,'train.decayed'), (50,'train.device'), (51,'train.dtype'), (52,'train.epsilon'), (53,'train.evaluate_batches'),
  (54,'train.evaluate_every'), (55,'train.graphs'), (56,'train.kernels'), (57,'train.learning_rate'), (58,'train.loss_piece'), (59,'train.momentum'),
  (60,'train.optimizer'), (61,'train.schedule'), (62,'train.shuffle_labels'), (63,'train.steps'), (64,'train.stride'), (65,'train.test_batches'),
  (66,'train.test_last'), (67,'train.threads'), (68,'train.warmup'), (69,'train.weight_decay');
CREATE TABLE plugin (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, version TEXT NOT NULL, code_identity TEXT NOT NULL, content_hash TEXT NOT NULL, path TEXT NOT NULL, UNIQUE (kind, name, version, code_identity, content_hash, path)) STRICT;
INSERT INTO plugin VALUES
  (1,'task','copy','1.0.0','9652c51ec1139e7c41891107161144e753e4174c9cae9dde785612677e6d30ce','67eb62f9d444b83547e35c3997079d66001b02a9991465c1283d613a418592ce','/work/main/build/release/lib/ablate/plugins/copy.so'),
  (2,'attention','softmax','1.3.0','0486681580bb8efc8737cb640e228b2cea19d97f4dc7fa374712f55bac5d94bf','8bbc6ed28d2812b14bc66776ff3bedb13abac5cef1967e029043a7f348062235','/home/user/plugins/softmax.so'),
  (3,'attention','softmax','1.3.0','eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee','8ad036a8e131b9337f953cb1741e77866dfc62fea971eab6dc8d4be7ff044633','/home/user/plugins/softmax.so');
CREATE TABLE plugin_of_set (plugin_set INTEGER NOT NULL REFERENCES plugin_set, plugin INTEGER NOT NULL REFERENCES plugin, verdict TEXT NOT NULL CHECK (verdict IN ('passed', 'failed', 'unchecked')), failed_checks TEXT NOT NULL, place TEXT NOT NULL DEFAULT '', length INTEGER NOT NULL DEFAULT 0, checked_length INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (plugin_set, plugin)) STRICT, WITHOUT ROWID;
INSERT INTO plugin_of_set VALUES
  (1,1,'unchecked','','',0,0), (1,2,'unchecked','','causal',64,0), (2,1,'unchecked','','',0,0), (2,3,'unchecked','','causal',64,0);
CREATE TABLE plugin_set (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO plugin_set VALUES
  (1,'aac8d7da14f3395500b707ac90f9176b5d09f2f42f64ddf4ab6747e43a70394b'), (2,'1be8bf710d5ccc58d1c3fac8eda93d030eaefdd7277ea41c674124c866e48f36');
CREATE TABLE proof (id INTEGER PRIMARY KEY, proven_us INTEGER NOT NULL, before TEXT NOT NULL, now TEXT NOT NULL, environment INTEGER NOT NULL REFERENCES environment, withdrawn_us INTEGER) STRICT;
INSERT INTO proof VALUES
  (1,1796007325772758,'{"plugins":["0486681580bb8efc8737cb640e228b2cea19d97f4dc7fa374712f55bac5d94bf"]}','{"plugins":["eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"]}',2,NULL),
  (2,1796007328506569,'{"plugins":["eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"]}','{"plugins":["ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"]}',2,NULL),
  (3,1796007330625090,'{"plugins":["0486681580bb8efc8737cb640e228b2cea19d97f4dc7fa374712f55bac5d94bf"]}','{"plugins":["dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"]}',2,1796007331120991);
CREATE TABLE proof_attempt (proof INTEGER NOT NULL REFERENCES proof, attempt INTEGER NOT NULL REFERENCES attempt, PRIMARY KEY (proof, attempt)) STRICT, WITHOUT ROWID;
INSERT INTO proof_attempt VALUES
  (1,1), (2,3), (3,1);
CREATE TABLE published_value (experiment INTEGER NOT NULL REFERENCES experiment, metric TEXT NOT NULL, trial INTEGER NOT NULL REFERENCES trial, value REAL NOT NULL, source TEXT NOT NULL, PRIMARY KEY (experiment, metric, trial)) STRICT, WITHOUT ROWID;
CREATE TABLE resolved (trial INTEGER PRIMARY KEY REFERENCES trial, json TEXT NOT NULL) STRICT;
INSERT INTO resolved VALUES
  (1,'{"attention":{"forget_gate":false,"gate":false,"heads":2,"key_value_heads":0,"latent":0,"plugin":"softmax","qk_norm":false,"sink":false,"span_examples":0},"model":{"activation":"gelu","attention_dropout":0.0,"attention_width":0,"causal":false,"classifier":"linear","classifier_hidden":0,"cut":"between","d_model":8,"dropout":0.1,"feed_forward":"mlp","hidden":8,"inner_dropout":0.0,"layers":1,"norm":"pre","norm_type":"layer","pooling":"mean","positions":"learned","segment":0,"tied_output":false},"seed":1,"task":{"copied":16,"data_seed":0,"dev":2000,"kind":"copying","length":0,"plugin":"copy","test":2000,"test_length":0,"train":100000,"vocabulary":16},"train":{"accumulate":1,"batch":4,"beta1":0.9,"beta1_low":0.0,"beta2":0.999,"clip":0.0,"cooldown":0.2,"cooldown_shape":"linear","cosine_floor":0.0,"decayed":"all","device":"cpu","dtype":"float32","epsilon":1e-06,"evaluate_batches":1,"evaluate_every":4,"graphs":false,"kernels":"fused","learning_rate":0.0001,"loss_piece":0,"momentum":0.9,"optimizer":"adamw","schedule":"one-cycle","shuffle_labels":false,"steps":4,"stride":0,"test_batches":2,"test_last":false,"threads":1,"warmup":0,"weight_decay":0.0}}'),
  (2,'{"attention":{"forget_gate":false,"gate":false,"heads":2,"key_value_heads":0,"latent":0,"plugin":"softmax","qk_norm":false,"sink":false,"span_examples":0},"model":{"activation":"gelu","attention_dropout":0.0,"attention_width":0,"causal":false,"classifier":"linear","classifier_hidden":0,"cut":"between","d_model":8,"dropout":0.1,"feed_forward":"mlp","hidden":8,"inner_dropout":0.0,"layers":1,"norm":"pre","norm_type":"layer","pooling":"mean","positions":"learned","segment":0,"tied_output":false},"seed":2,"task":{"copied":16,"data_seed":0,"dev":2000,"kind":"copying","length":0,"plugin":"copy","test":2000,"test_length":0,"train":100000,"vocabulary":16},"train":{"accumulate":1,"batch":4,"beta1":0.9,"beta1_low":0.0,"beta2":0.999,"clip":0.0,"cooldown":0.2,"cooldown_shape":"linear","cosine_floor":0.0,"decayed":"all","device":"cpu","dtype":"float32","epsilon":1e-06,"evaluate_batches":1,"evaluate_every":4,"graphs":false,"kernels":"fused","learning_rate":0.0001,"loss_piece":0,"momentum":0.9,"optimizer":"adamw","schedule":"one-cycle","shuffle_labels":false,"steps":4,"stride":0,"test_batches":2,"test_last":false,"threads":1,"warmup":0,"weight_decay":0.0}}'),
  (3,'{"attention":{"forget_gate":false,"gate":false,"heads":2,"key_value_heads":0,"latent":0,"plugin":"softmax","qk_norm":false,"sink":false,"span_examples":0},"model":{"activation":"gelu","attention_dropout":0.0,"attention_width":0,"causal":false,"classifier":"linear","classifier_hidden":0,"cut":"between","d_model":8,"dropout":0.1,"feed_forward":"mlp","hidden":8,"inner_dropout":0.0,"layers":1,"norm":"pre","norm_type":"layer","pooling":"mean","positions":"learned","segment":0,"tied_output":false},"seed":3,"task":{"copied":16,"data_seed":0,"dev":2000,"kind":"copying","length":0,"plugin":"copy","test":2000,"test_length":0,"train":100000,"vocabulary":16},"train":{"accumulate":1,"batch":4,"beta1":0.9,"beta1_low":0.0,"beta2":0.999,"clip":0.0,"cooldown":0.2,"cooldown_shape":"linear","cosine_floor":0.0,"decayed":"all","device":"cpu","dtype":"float32","epsilon":1e-06,"evaluate_batches":1,"evaluate_every":4,"graphs":false,"kernels":"fused","learning_rate":0.0001,"loss_piece":0,"momentum":0.9,"optimizer":"adamw","schedule":"one-cycle","shuffle_labels":false,"steps":4,"stride":0,"test_batches":2,"test_last":false,"threads":1,"warmup":0,"weight_decay":0.0}}');
CREATE TABLE result (metric INTEGER NOT NULL REFERENCES metric, attempt INTEGER NOT NULL REFERENCES attempt, value REAL, PRIMARY KEY (metric, attempt)) STRICT, WITHOUT ROWID;
INSERT INTO result VALUES
  (1,1,100.55859375), (1,2,100.6640625), (1,3,100.6171875), (2,1,0.021897), (2,2,0.021834), (2,3,0.024144), (3,1,0.085079559), (3,2,0.083845236),
  (3,3,0.085267824), (4,1,2.86754870414733886718e+00), (4,2,3.0341548919677734375e+00), (4,3,2.84202289581298828125e+00), (5,1,7.8125), (5,2,6.25),
  (5,3,4.6875), (6,1,0.0), (6,2,0.0), (6,3,0.0), (7,1,2.82929658889770507812e+00), (7,2,2.99723482131958), (7,3,2.88578295707702636718e+00),
  (8,1,7.8125), (8,2,6.25), (8,3,4.6875), (9,1,0.0), (9,2,0.0), (9,3,0.0), (10,1,2.8292964193969964981e+00), (10,2,2.99723509885370731353e+00),
  (10,3,2.88578295428305864334e+00), (11,1,9.375), (11,2,7.8125), (11,3,5.859375), (12,1,0.0), (12,2,0.0), (12,3,0.0),
  (13,1,2.93913125991821289062e+00), (13,2,2.94447743892669677734e+00), (13,3,2.79984688758850097656e+00), (14,1,9.375), (14,2,7.8125),
  (14,3,5.859375), (15,1,0.0), (15,2,0.0), (15,3,0.0), (16,1,2.93913120822981), (16,2,2.94447742030024528503e+00), (16,3,2.79984677769243717193e+00),
  (17,1,4.0), (17,2,4.0), (17,3,4.0), (18,1,0.86011), (18,2,0.780749), (18,3,0.989672), (19,1,1.697301), (19,2,1.766018), (19,3,2.091053),
  (20,1,1.813298), (20,2,1.88611), (20,3,9.751203), (21,1,1.81601299999999987733e+00), (21,2,1.88888500000000014722e+00),
  (21,3,2.25361199999999861631e+00), (22,1,1.70244137277805784869e+00), (22,2,1.27815105400917765625e+01), (22,3,1.69859401874789824656e+02),
  (23,1,2.20592533604515074322e+03), (23,2,2.12076708145336169765e+03), (23,3,4.10205797171897643257e+02), (25,1,1264.0), (25,2,1264.0), (25,3,1264.0),
  (26,1,0.170806884765625), (26,2,0.170806884765625), (26,3,0.170806884765625);
CREATE TABLE running (host TEXT NOT NULL, process INTEGER NOT NULL, started INTEGER NOT NULL, key TEXT NOT NULL, started_us INTEGER NOT NULL, step INTEGER NOT NULL, steps INTEGER NOT NULL, loss REAL, PRIMARY KEY (host, process, started, key)) STRICT, WITHOUT ROWID;
CREATE TABLE setting (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO setting VALUES
  (1,'ec0eb9c58a8147d59247a241c51e9ac8d69f4a6c885ea6cb3b7f5d5566b7af4b');
CREATE TABLE spare_alias (key TEXT NOT NULL, trial INTEGER NOT NULL REFERENCES trial, proof INTEGER NOT NULL REFERENCES proof, basis INTEGER REFERENCES basis, rests_on TEXT, added TEXT, PRIMARY KEY (key, proof)) STRICT, WITHOUT ROWID;
CREATE TABLE tag (experiment INTEGER NOT NULL REFERENCES experiment, tag TEXT NOT NULL, PRIMARY KEY (experiment, tag)) STRICT, WITHOUT ROWID;
CREATE TABLE trial (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, configuration INTEGER NOT NULL, setting INTEGER REFERENCES setting, seed INTEGER REFERENCES value) STRICT;
INSERT INTO trial VALUES
  (1,'4300f6c4c34438e857627178401c9a8bcb1cff4e7e954d6db9f060a191039fc5',-2186606246889807747,1,1),
  (2,'54c914aecde5bb6e1e75ffa518fbcd51621fe8bcdef202090dfa047ff7fd127c',-2570735372469749186,1,70),
  (3,'efeff17286f537ed4bf8561027bca83120c4a7c020a3f25f71a82b9f96cf7cc2',-5663503627116689459,1,71);
CREATE TABLE value (id INTEGER PRIMARY KEY, path INTEGER NOT NULL REFERENCES path, type TEXT NOT NULL CHECK (type IN ('integer', 'real', 'boolean', 'text')), text TEXT NOT NULL, number ANY, UNIQUE (path, text, type)) STRICT;
INSERT INTO value VALUES
  (1,1,'integer','1',1), (2,2,'text','softmax',NULL), (3,3,'boolean','false',0), (4,4,'boolean','false',0), (5,5,'integer','2',2),
  (6,6,'integer','0',0), (7,7,'integer','0',0), (8,8,'boolean','false',0), (9,9,'boolean','false',0), (10,10,'integer','0',0),
  (11,11,'text','gelu',NULL), (12,12,'real','0.0',0.0), (13,13,'integer','0',0), (14,14,'boolean','false',0), (15,15,'text','linear',NULL),
  (16,16,'integer','0',0), (17,17,'text','between',NULL), (18,18,'integer','8',8), (19,19,'real','0.1',0.1), (20,20,'text','mlp',NULL),
  (21,21,'integer','8',8), (22,22,'real','0.0',0.0), (23,23,'integer','1',1), (24,24,'text','pre',NULL), (25,25,'text','layer',NULL),
  (26,26,'text','mean',NULL), (27,27,'text','learned',NULL), (28,28,'integer','0',0), (29,29,'boolean','false',0), (30,30,'text','copy',NULL),
  (31,31,'integer','16',16), (32,32,'integer','0',0), (33,33,'integer','2000',2000), (34,34,'text','copying',NULL), (35,35,'integer','0',0),
  (36,36,'integer','2000',2000), (37,37,'integer','0',0), (38,38,'integer','100000',100000), (39,39,'integer','16',16), (40,40,'integer','1',1),
  (41,41,'integer','4',4), (42,42,'real','0.9',0.9), (43,43,'real','0.0',0.0), (44,44,'real','0.999',0.999), (45,45,'real','0.0',0.0),
  (46,46,'real','0.2',0.2), (47,47,'text','linear',NULL), (48,48,'real','0.0',0.0), (49,49,'text','all',NULL), (50,50,'text','cpu',NULL),
  (51,51,'text','float32',NULL), (52,52,'real','1e-06',1.0e-06), (53,53,'integer','1',1), (54,54,'integer','4',4), (55,55,'boolean','false',0),
  (56,56,'text','fused',NULL), (57,57,'real','0.0001',0.0001), (58,58,'integer','0',0), (59,59,'real','0.9',0.9), (60,60,'text','adamw',NULL),
  (61,61,'text','one-cycle',NULL), (62,62,'boolean','false',0), (63,63,'integer','4',4), (64,64,'integer','0',0), (65,65,'integer','2',2),
  (66,66,'boolean','false',0), (67,67,'integer','1',1), (68,68,'integer','0',0), (69,69,'real','0.0',0.0), (70,1,'integer','2',2),
  (71,1,'integer','3',3);
CREATE TABLE verdict (kind TEXT NOT NULL, plugin TEXT NOT NULL, code_identity TEXT NOT NULL, suite INTEGER NOT NULL, checked_s INTEGER NOT NULL, verdict TEXT NOT NULL CHECK (verdict IN ('passed', 'failed')), failed_checks TEXT NOT NULL, PRIMARY KEY (kind, plugin, code_identity)) STRICT, WITHOUT ROWID;
CREATE INDEX experiment_trial_by_trial ON experiment_trial (trial);
CREATE INDEX key_part_by_settings ON key_part (settings_hash);
CREATE INDEX alias_by_proof ON alias (proof);
CREATE INDEX alias_by_rests_on ON alias (rests_on) WHERE rests_on IS NOT NULL;
CREATE INDEX note_by_experiment ON note (experiment);
CREATE UNIQUE INDEX attempt_by_uid ON attempt (uid);
CREATE INDEX artifact_by_attempt ON artifact (attempt);
CREATE INDEX lease_held ON lease (slot) WHERE outcome IS NULL;
CREATE INDEX attempt_by_trial ON attempt (trial, outcome, turn, uid, plugin_set, environment, main_metric);
CREATE VIEW "proofs" AS SELECT p.id AS "proof", strftime('%Y-%m-%d %H:%M:%S', p.proven_us / 1000000, 'unixepoch') AS "proven", coalesce((SELECT group_concat(DISTINCT name) FROM plugin WHERE code_identity IN (SELECT value FROM json_each(p.before, '$.plugins'))), '') AS "plugins", p.before AS "before", p.now AS "now", (SELECT group_concat(attempt) FROM proof_attempt WHERE proof = p.id) AS "attempts", (SELECT count(*) FROM alias WHERE proof = p.id) AS "trials", strftime('%Y-%m-%d %H:%M:%S', p.withdrawn_us / 1000000, 'unixepoch') AS "withdrawn", e.json AS "environment" FROM proof p JOIN environment e ON e.id = p.environment;
DELETE FROM "sqlite_sequence";
INSERT INTO sqlite_sequence VALUES
  ('lease_owner',2), ('lease',3);
COMMIT;
PRAGMA application_id = 1633840244;
PRAGMA user_version = 23;
